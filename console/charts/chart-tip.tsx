interface ChartTipProps {
  readonly text: string;
  /** The point that the text belongs to, in percent of the width and in pixels. */
  readonly percent: number;
  readonly top: number;
}

/** The text of a bar beside it. Screen readers get it as the name of the bar. */
export const ChartTip = ({ text, percent, top }: ChartTipProps) => (
  <p
    class="chart-tip"
    aria-hidden="true"
    // the part of its own width by which it is moved keeps it within the chart
    style={{ left: `${percent}%`, top: `${top}px`, translate: `-${percent}% -100%` }}
  >
    {text}
  </p>
);
