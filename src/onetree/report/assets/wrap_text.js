// Where text breaks into lines, for what is laid out without the browser's help.

const measuring = document.createElement("canvas").getContext("2d");
const widths = new Map();

function textWidth(text, font) {
  const key = `${font}|${text}`;
  if (!widths.has(key)) {
    if (widths.size > 100_000) widths.clear();
    measuring.font = font;
    widths.set(key, measuring.measureText(text).width);
  }
  return widths.get(key);
}

// Lines of at most `room` pixels, broken between words, and inside a word that is wider than a line.
function wrapText(text, room, font, breaks = /(?<=\s)/) {
  if (textWidth(text, font) <= room) return [text];
  const lines = [];
  let line = "";
  for (const word of text.split(breaks)) {
    if (textWidth((line + word).trimEnd(), font) <= room) {
      line += word;
      continue;
    }
    if (line.trim()) lines.push(line.trimEnd());
    line = word;
    while (textWidth(line.trimEnd(), font) > room && line.length > 1) {
      let [begin, end] = [1, line.length - 1];
      while (begin < end) {
        const middle = (begin + end + 1) >> 1;
        if (textWidth(line.slice(0, middle), font) <= room) begin = middle;
        else end = middle - 1;
      }
      lines.push(line.slice(0, begin));
      line = line.slice(begin);
    }
  }
  if (line.trim()) lines.push(line.trimEnd());
  return lines.length ? lines : [text];
}
