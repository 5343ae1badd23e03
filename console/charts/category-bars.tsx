import { scaleLinear } from 'd3-scale';
import { formatCount } from '../ui/format-count.ts';
import { Bar } from './bar.tsx';
import { useBoxWidth } from './box-width.ts';
import type { Category } from './chart-data.ts';
import { ChartSvg } from './chart-svg.tsx';
import { ChartTip } from './chart-tip.tsx';
import { fillOf } from './marks.tsx';
import { useBars } from './use-bars.ts';

interface CategoryBarsProps {
  readonly title: string;
  readonly description: string;
  readonly categories: readonly Category[];
}

const rowHeight = 40;
const barHeight = 8;
const valueGap = 16;
const digitWidth = 9;

/** The height of a chart with `count` bars. */
export const categoryBarsHeight = (count: number): number => count * rowHeight;

/** One horizontal bar per category, below its name and its number. */
export function CategoryBars(props: CategoryBarsProps) {
  const [box, width] = useBoxWidth();
  return (
    <div ref={box} class="chart" style={{ height: `${categoryBarsHeight(props.categories.length)}px` }}>
      {width > 0 && <Drawing {...props} width={width} />}
    </div>
  );
}

function Drawing({ title, description, categories, width }: CategoryBarsProps & { readonly width: number }) {
  const bars = useBars(categories.length);
  const x = scaleLinear(
    [0, Math.max(1, ...categories.map(({ value, tone }) => (tone === undefined ? 0 : value)))],
    [0, width],
  );
  const shown = bars.shown === undefined ? undefined : categories[bars.shown];
  return (
    <>
      <ChartSvg width={width} height={categoryBarsHeight(categories.length)} title={title} description={description}>
        <g ref={bars.group}>
          {categories.map(({ key, label, text, href, value, tone }, index) => {
            const y = index * rowHeight;
            const count = formatCount(value);
            return (
              <Bar key={key} bars={bars} index={index} text={text} href={href}>
                <rect class="chart-hit" y={y} width={width} height={rowHeight} />
                <foreignObject y={y} width={Math.max(0, width - count.length * digitWidth - valueGap)} height="22">
                  <div class="chart-label">{label}</div>
                </foreignObject>{' '}
                <text class="chart-value" x={width} y={y + 17} text-anchor="end">
                  {count}
                </text>
                {tone !== undefined && <rect class="chart-track" y={y + 24} width={width} height={barHeight} rx="2" />}
                {tone !== undefined && value > 0 && (
                  <rect
                    class="chart-mark"
                    fill={fillOf(tone)}
                    y={y + 24}
                    width={Math.max(1, x(value))}
                    height={barHeight}
                    rx="2"
                  />
                )}
              </Bar>
            );
          })}
        </g>
      </ChartSvg>
      {shown && bars.shown !== undefined && <ChartTip text={shown.text} percent={50} top={bars.shown * rowHeight} />}
    </>
  );
}
