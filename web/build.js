// Builds the pages one by one, so that each has a single script and a single style sheet: a page
// in one file can then hold both without knowing how they import each other.
// Usage: node build.js [folder]

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "../src/hushway/web"));

rmSync(join(out, "assets"), { recursive: true, force: true });
for (const page of ["reader", "steward"]) {
  await build({
    root: here,
    logLevel: "warn",
    build: {
      outDir: out,
      emptyOutDir: false,
      rolldownOptions: {
        checks: { pluginTimings: false },
        input: join(here, `${page}.html`),
        output: {
          entryFileNames: `assets/${page}.js`,
          assetFileNames: `assets/${page}[extname]`,
          codeSplitting: false,
        },
      },
    },
  });
  const at = join(out, "assets", `${page}.js`);
  // Within a page, a script may hold neither a comment of HTML nor a tag of a script.
  const script = readFileSync(at, "utf8").replaceAll("<!--", "\\x3c!--");
  if (/<\/?script/i.test(script)) throw new Error(`${page}.js holds a tag of a script.`);
  writeFileSync(at, script);
}
