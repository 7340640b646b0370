import { mount } from "svelte";
import "../shared/theme.css";
import Steward from "./Steward.svelte";

const target = document.getElementById("app")!;
target.replaceChildren();
mount(Steward, { target });
