#!/usr/bin/env python3
"""Draws GraphTurbo's ablation: bench/results/graphturbo.json as docs/graphturbo.svg.

    python bench/draw.py

A group of bars for each model: how many times faster than layer by layer each step is, and a mark
where the paper's last step is. Needs no packages.
"""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEPS = {"clusters": "#9ecae1", "buffers": "#4292c6", "instances": "#2171b5", "order": "#08519c",
         "instructions": "#08306b"}
LAST = list(STEPS)[-1]
WIDTH, HEIGHT, LEFT, BOTTOM, BAR, MOST = 920, 320, 40, 60, 13, 8.0


def main():
    results = json.loads((ROOT / "bench/results/graphturbo.json").read_text())["models"]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             'font-size="11"><rect width="100%" height="100%" fill="white"/>']
    scale = (HEIGHT - BOTTOM - 30) / MOST
    floor = HEIGHT - BOTTOM
    for times in range(int(MOST) + 1):
        y = floor - times * scale
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="{"#888" if times == 1 else "#ddd"}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{times}</text>')
    group = (WIDTH - LEFT - 10) / len(results)
    for at, (name, row) in enumerate(sorted(results.items())):
        begin = LEFT + at * group + (group - len(STEPS) * BAR) / 2
        for step, (own, colour) in enumerate(STEPS.items()):
            times = row["layers"]["cycles"] / row[own]["cycles"]
            height = min(times, MOST) * scale
            parts.append(f'<rect x="{begin + step * BAR:.1f}" y="{floor - height:.1f}" width="{BAR - 2}" height="{height:.1f}" '
                         f'fill="{colour}"><title>{name}, {own}: {times:.2f}</title></rect>')
            if times > MOST and own == LAST:
                parts.append(f'<text x="{begin + step * BAR:.1f}" y="{floor - height - 4:.1f}">{times:.1f}</text>')
        if row["published"]:
            y = floor - min(row["published"], MOST) * scale
            over = f'{row["published"]} ' if row["published"] > MOST else ""
            parts.append(f'<line x1="{begin:.1f}" x2="{begin + len(STEPS) * BAR:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d62728" '
                         f'stroke-width="2"/><text x="{begin:.1f}" y="{y - 4:.1f}" fill="#d62728">{over}</text>')
        parts.append(f'<text x="{begin + len(STEPS) * BAR / 2:.1f}" y="{floor + 16}" text-anchor="middle">{name}</text>')
    for at, (own, colour) in enumerate([*STEPS.items(), ("published", "#d62728")]):
        x = LEFT + at * 130
        parts.append(f'<rect x="{x}" y="{HEIGHT - 24}" width="10" height="10" fill="{colour}"/>'
                     f'<text x="{x + 14}" y="{HEIGHT - 15}">{own}</text>')
    parts.append(f'<text x="{LEFT}" y="18">times as fast as layer by layer</text></svg>')
    (ROOT / "docs/graphturbo.svg").write_text("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
