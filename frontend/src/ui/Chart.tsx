// A line over time by uPlot, loaded only where a chart is looked at. Times in the rules' zone.
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export interface Series {
  values: (number | null)[];
  colour: string;
  fill?: string;
}

export default function Chart({ times, series, height, most, unit, zone, label, days = false }: {
  /** Seconds since the epoch. */
  times: number[];
  series: readonly Series[];
  height: number;
  most?: number;
  unit: string;
  zone: string;
  label: string;
  /** A value a day: the axis says dates. */
  days?: boolean;
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    const style = getComputedStyle(document.documentElement);
    const quiet = style.getPropertyValue('--quiet').trim();
    const line = style.getPropertyValue('--line').trim();
    const axis = { stroke: quiet, grid: { stroke: line, width: 1 }, ticks: { show: false }, font: '11px system-ui' } as const;
    const plot = new uPlot(
      {
        width: box.clientWidth,
        height,
        legend: { show: false },
        cursor: { show: false },
        tzDate: (at) => uPlot.tzDate(new Date(at * 1e3), days ? 'UTC' : zone),
        padding: [6, 4, 0, 0],
        scales: { x: { time: true }, y: { range: (_plot, _low, high) => [0, most ?? Math.max(1, (high ?? 0) * 1.1)] } },
        axes: [
          days ? { ...axis, size: 22, space: 64, incrs: [1, 2, 7, 14, 28].map((each) => each * 86400), values: (_plot, splits) => splits.map((at) => new Date(at * 1e3).toISOString().slice(5, 10)) } : { ...axis, size: 22, values: [[3600, '{HH}:{mm}'], [60, '{HH}:{mm}'], [1, '{HH}:{mm}:{ss}']].map(
            ([step, text]) => [step, text, null, null, null, null, null, null, 1]) as uPlot.Axis.Values },
          { ...axis, size: 48, space: 26, values: (_plot, splits) => splits.map((value) => `${value} ${unit}`) },
        ],
        series: [
          {},
          ...series.map((each) => {
            const colour = each.colour.startsWith('--') ? style.getPropertyValue(each.colour).trim() : each.colour;
            return { stroke: colour, width: 1.5, points: { show: false }, ...(each.fill ? { fill: style.getPropertyValue(each.fill).trim() } : {}) };
          }),
        ],
      },
      [times, ...series.map((each) => each.values)] as uPlot.AlignedData,
      box,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height }));
    watch.observe(box);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [times, series, height, most, unit, zone, days]);
  return <div ref={place} role="img" aria-label={label} style={{ height }} />;
}
