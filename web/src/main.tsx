import { render } from "preact";
import { App } from "./app";
import { store } from "./store";
import "./style.css";

const root = document.getElementById("app")!;
root.replaceChildren();
render(<App />, root);
void store.start();
addEventListener("hashchange", () => void store.start());
