import { scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';
import { nearestSlot, placeOf, type Slots } from './slot-places.ts';

/** A line of a chart: a value for each time, `undefined` where there is none. */
export interface ChartLine {
  readonly label: string;
  readonly values: readonly (number | undefined)[];
}

/** The times of charts that stand side by side, and the one that is pointed at in all of them. */
export interface TimeAxis extends Slots {
  /** The labels at even distances, the first at the left end. */
  readonly labels: readonly string[];
  /** The places of events; between two slots is a fraction. */
  readonly marks: readonly number[];
  /** The slot of the cursor; `undefined` without one. */
  readonly cursor: number | undefined;
  readonly onCursor: (slot: number | undefined) => void;
}

interface LineChartProps {
  readonly title: string;
  /** The values at the cursor, or the current ones: its text alternative. */
  readonly text: string;
  /** At most three; each has a colour and a dash pattern. */
  readonly lines: readonly ChartLine[];
  /** The least upper end of the axis, so that noise near zero looks like noise. */
  readonly topMin: number;
  readonly format: (value: number) => string;
  readonly time: TimeAxis;
}

/** The drawing is stretched to the width of its place; strokes keep their width. */
const width = 100;
const height = 40;

/** Values over time. The axis begins at 0. The pointer and the arrow keys move the cursor. */
export function LineChart({ title, text, lines, topMin, format, time }: LineChartProps) {
  const { slots, labels, marks, cursor, onCursor } = time;
  const largest = Math.max(topMin, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const y = scaleLinear([0, largest], [height, 0]).nice(2);
  const [, top = largest] = y.domain();
  const x = (place: number): number => (place / Math.max(slots - 1, 1)) * width;
  const slotX = (slot: number): number => x(placeOf(time, slot));
  const onPointer = ({ currentTarget, clientX }: preact.TargetedPointerEvent<HTMLDivElement>): void => {
    const box = currentTarget.getBoundingClientRect();
    onCursor(nearestSlot(time, ((clientX - box.left) / box.width) * (slots - 1)));
  };
  return (
    <div
      class="line-chart"
      role="slider"
      tabIndex={0}
      aria-label={title}
      aria-valuemin={0}
      aria-valuemax={slots - 1}
      aria-valuenow={cursor ?? slots - 1}
      aria-valuetext={text}
      onPointerMove={onPointer}
      onPointerDown={onPointer}
      onPointerLeave={() => onCursor(undefined)}
      onBlur={() => onCursor(undefined)}
      onKeyDown={(event) => {
        if (event.altKey || event.ctrlKey || event.metaKey) return; // a command of the browser
        const next = nextSlot(event.key, cursor ?? slots - 1, slots);
        if (next === undefined && event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        onCursor(next);
      }}
    >
      <span class="line-chart-top" aria-hidden="true">
        {format(top)}
      </span>
      <svg aria-hidden="true" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none">
        <path class="line-chart-grid" d={`M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}`} />
        <path class="line-chart-mark" d={marks.map((place) => `M${x(place)} 0V${height}`).join('')} />
        {lines.map(({ label, values }, index) => (
          <Line key={label} values={values} first={slots - values.length} x={slotX} y={y} isFilled={index === 0} />
        ))}
        {cursor !== undefined && <path class="line-chart-cursor" d={`M${slotX(cursor)} 0V${height}`} />}
      </svg>
      <div class="line-chart-times" aria-hidden="true">
        {labels.map((label) => (
          <span key={label}>{label}</span>
        ))}
      </div>
    </div>
  );
}

const within = (slot: number, slots: number): number => Math.max(0, Math.min(slot, slots - 1));

/** The slot to which a key moves the cursor; `undefined` if it is no such key. */
function nextSlot(key: string, from: number, slots: number): number | undefined {
  const moves: Readonly<Record<string, number>> = {
    ArrowLeft: from - 1,
    ArrowDown: from - 1,
    ArrowRight: from + 1,
    ArrowUp: from + 1,
    PageDown: from - Math.round(slots / 10),
    PageUp: from + Math.round(slots / 10),
    Home: 0,
    End: slots - 1,
  };
  const to = moves[key];
  return to === undefined ? undefined : within(to, slots);
}

interface LineProps {
  readonly values: ChartLine['values'];
  /** The slot of the first value; negative ones are not drawn. */
  readonly first: number;
  readonly x: (slot: number) => number;
  readonly y: (value: number) => number;
  readonly isFilled: boolean;
}

function Line({ values, first, x, y, isFilled }: LineProps) {
  const shown = values.slice(Math.max(0, -first));
  const start = Math.max(0, first);
  const isDefined = (value: number | undefined): boolean => value !== undefined;
  const stroke = line<number | undefined>(
    (_, index) => x(start + index),
    (value) => y(value ?? 0),
  ).defined(isDefined);
  const fill = area<number | undefined>(
    (_, index) => x(start + index),
    height,
    (value) => y(value ?? 0),
  ).defined(isDefined);
  return (
    <g class="line-chart-line">
      {isFilled && <path class="line-chart-area" d={fill(shown) ?? ''} />}
      <path class="line-chart-stroke" d={stroke(shown) ?? ''} />
    </g>
  );
}
