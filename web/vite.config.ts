import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

export default defineConfig({
  base: "./",
  plugins: [svelte()],
  build: {
    target: "es2022",
    sourcemap: false,
    // Everything that a page needs is named in it; nothing is loaded later.
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  test: { include: ["tests/**/*.test.ts"] },
});
