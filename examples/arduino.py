"""A sketch for an Arduino: ten trees as one function of a few kilobytes, with the same answers as the forest.

Run it: python examples/arduino.py [FOLDER]. Open FOLDER/iris/iris.ino in the Arduino IDE. Where avr-gcc and simavr are
installed (Debian: gcc-avr, avr-libc, simavr), the tree is compiled for the processor of an Arduino Uno and run, on
thresholds and one float beside them, and compared with the forest. Without them, cc compiles it for this machine.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree

SKETCH = """\
// Asks for four numbers in cm (sepal length and width, petal length and width) and names the iris.
extern "C" {
extern const char *const iris_class_names[];
int iris_predict(const float *x);
}

void setup() {
  Serial.begin(9600);
  Serial.setTimeout(60000);
}

void loop() {
  float x[4];
  for (float &each : x) each = Serial.parseFloat();
  int index = iris_predict(x);
  if (index >= 0) Serial.println(iris_class_names[index]);
}
"""
# The same function on rows of a table, one digit each, to the serial port.
ON_BOARD = """\
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>
int iris_predict(const float *x);
static const float rows[][4] PROGMEM = {%s};
static void put(char c) { loop_until_bit_is_set(UCSR0A, UDRE0); UDR0 = c; }
int main(void) {
  UCSR0B = _BV(TXEN0);
  for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    float x[4];
    memcpy_P(x, rows[i], sizeof x);
    put('0' + iris_predict(x));
    if (i %% 50 == 49) put('\\n');
  }
  put('\\n');
  cli();
  sleep_mode();
}
"""
HERE = """\
#include <stdio.h>
int iris_predict(const float *x);
static const float rows[][4] = {%s};
int main(void) {
  for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) putchar('0' + iris_predict(rows[i]));
}
"""
CHIP = ["-mmcu=atmega328p", "-DF_CPU=16000000UL"]
STRICT = ["-std=c99", "-Os", "-Wall", "-Wextra", "-Werror"]


def rows(tree: onetree.Tree, n: int = 400) -> np.ndarray:
    """Return inputs, half of their values on thresholds or one float beside them."""
    rng = np.random.default_rng(0)
    columns = []
    for feature in range(tree.n_features):
        cuts = tree.threshold[tree.feature == feature].astype(np.float32)
        beside = [np.nextafter(cuts, np.float32(end)) for end in (-np.inf, np.inf)]
        near = rng.choice(np.concatenate([cuts, *beside]), n)
        columns.append(np.where(rng.random(n) < 0.5, near, rng.uniform(0, 8, n).astype(np.float32)))
    return np.column_stack(columns)


def run(command: list[str]) -> str:
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # noqa: S603
    return ran.stdout.decode("utf-8", "replace")


def try_it(source: Path, asked: np.ndarray, folder: Path) -> tuple[str, str]:
    """Compile and run it on what is here; return where it ran, and the digits it gave."""
    table = ",\n".join("{" + ", ".join(f"{float(x).hex()}f" for x in row) + "}" for row in asked)
    if compiler := shutil.which("avr-gcc"):
        (folder / "board.c").write_text("#include <string.h>\n" + ON_BOARD % table, encoding="utf-8")
        program, part = str(folder / "board.elf"), str(folder / "iris.o")
        run([compiler, *CHIP, *STRICT, "-c", str(source), "-o", part])
        size = run(["avr-size", part]).splitlines()[1].split()[3]
        run([compiler, *CHIP, *STRICT, part, str(folder / "board.c"), "-o", program])
        said = f"an ATmega328P ({int(size):,} bytes)"
        if simulator := shutil.which("simavr"):
            answer = run([simulator, "-m", "atmega328p", "-f", "16000000", program])
            plain = re.sub(r"\x1b\[\d*m", "", answer)  # the simulator prints lines of the port in colour
            return said, "".join(re.findall(r"^(\d+)\.?$", plain, re.MULTILINE))
        print(f"compiled for {said}; simavr, which would run it, is not here")
    if compiler := shutil.which("cc"):
        (folder / "here.c").write_text(HERE % table, encoding="utf-8")
        run([compiler, *STRICT, str(source), str(folder / "here.c"), "-o", str(folder / "here")])
        return "this machine", run([str(folder / "here")])
    return "", ""


def main(folder: Path) -> None:
    data = load_iris()
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(data.data, data.target)
    tree = onetree.born_again(forest, objective="leaves-depth").tree
    sketch = folder / "iris"
    sketch.mkdir(parents=True, exist_ok=True)
    (sketch / "iris.ino").write_text(SKETCH, encoding="utf-8")
    # Nested conditions are code, which stays in flash; a table would be copied to memory.
    source = sketch / "iris_tree.c"
    source.write_text(tree.to_code("c", number="float", name="iris", style="nested"), encoding="utf-8")
    print(f"{len(forest)} trees as one of {tree.n_leaves} leaves: {sketch / 'iris.ino'}")
    asked = rows(tree)
    where, digits = try_it(source, asked, folder)
    if not where:
        print("to try it here, install avr-gcc and simavr, or a C compiler")
        return
    wrong = int((np.array([int(c) for c in digits]) != forest.predict(asked)).sum())
    print(f"on {where}: {len(asked)} inputs, {wrong} answers differ from the forest")
    assert wrong == 0  # noqa: S101


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
