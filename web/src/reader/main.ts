import { mount } from "svelte";
import "../shared/theme.css";
import Reader from "./Reader.svelte";

const target = document.getElementById("app")!;
target.replaceChildren();
mount(Reader, { target });
