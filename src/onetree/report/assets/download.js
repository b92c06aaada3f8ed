// Pictures of the drawing as files.

const LARGEST_PNG = 8_000; // pixels on a side

function download(blob, name) {
  const url = URL.createObjectURL(blob);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function svgText({ svg }) {
  return new XMLSerializer().serializeToString(svg);
}

function fileName(title, ending) {
  const plain = title.normalize("NFKD").replace(/[^\w.-]+/g, "-").replace(/^-+|-+$/g, "");
  return `${plain.slice(0, 60) || "tree"}.${ending}`;
}

async function pngOf(picture) {
  const image = new Image();
  const loaded = new Promise((resolve, reject) => Object.assign(image, { onload: resolve, onerror: reject }));
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(picture))}`;
  await loaded;
  const scale = Math.min(2, LARGEST_PNG / Math.max(picture.width, picture.height));
  const canvas = make("canvas", { width: Math.ceil(picture.width * scale), height: Math.ceil(picture.height * scale) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

function addDownloads(drawing, title) {
  const save = (ending, toBlob) => async () => {
    const picture = drawing.picture();
    byId("tree-message").textContent = picture ? "" : "Too many nodes are unfolded for one picture: fold some of them.";
    if (picture) download(await toBlob(picture), fileName(title, ending));
  };
  byId("save-svg").addEventListener("click", save("svg", (picture) => new Blob([svgText(picture)], { type: "image/svg+xml" })));
  byId("save-png").addEventListener("click", save("png", pngOf));
}
