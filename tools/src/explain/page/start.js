// Draws everything, then says so.
const theme = document.getElementById("theme");
const dark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const name = () => { theme.textContent = dark() ? "Light" : "Dark"; };
theme.addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; name(); });
name();
for (const draw of [drawLead, drawSummary, drawStrip, drawJoining, drawGraph, drawTimeline, drawArena, drawRoofline, drawKernels, drawPatterns, drawMachine, drawRemarks]) draw();
document.documentElement.dataset.drawn = "whole";
