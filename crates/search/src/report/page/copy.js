
"use strict";
for (const button of document.querySelectorAll("button[data-fen]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
        const text = button.textContent, fen = button.dataset.fen;
        let done = true;
        try {
            await navigator.clipboard.writeText(fen);
        } catch {
            const area = document.createElement("textarea");
            area.value = fen;
            button.after(area);
            area.select();
            done = document.execCommand("copy");
            area.remove();
            button.focus();
        }
        button.textContent = done ? "Copied" : "Not copied";
        button.disabled = true;
        setTimeout(() => { button.textContent = text; button.disabled = false; }, 1500);
    });
}
