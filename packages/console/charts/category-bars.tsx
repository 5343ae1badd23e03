import { scaleLinear } from 'd3-scale';
import { formatCount, formatShare } from '../ui/format-count.ts';
import { useWidth } from '../ui/use-width.ts';
import { Bar } from './bar.tsx';
import type { Category } from './chart-data.ts';
import { ChartSvg } from './chart-svg.tsx';
import { markOf } from './marks.tsx';
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

/** One horizontal bar per category, below its name and its number; the width is the share of all. */
export function CategoryBars(props: CategoryBarsProps) {
  const [box, width] = useWidth();
  return (
    <div ref={box} class="chart" style={{ height: `${categoryBarsHeight(props.categories.length)}px` }}>
      {width > 0 && <Drawing {...props} width={width} />}
    </div>
  );
}

function Drawing({ title, description, categories, width }: CategoryBarsProps & { readonly width: number }) {
  const bars = useBars(categories.length, { showsText: false });
  const x = scaleLinear([0, 1], [0, width]);
  return (
    <ChartSvg width={width} height={categoryBarsHeight(categories.length)} title={title} description={description}>
      <g ref={bars.group}>
        {categories.map(({ key, label, text, href, value, share, tone }, index) => {
          const y = index * rowHeight;
          const count = formatCount(value);
          const percent = formatShare(share);
          return (
            <Bar key={key} bars={bars} index={index} text={text} href={href}>
              <rect class="chart-hit" y={y} width={width} height={rowHeight} />
              <foreignObject
                y={y}
                width={Math.max(0, width - (count.length + percent.length) * digitWidth - valueGap)}
                height="22"
              >
                <div class="chart-label cut" title={label}>
                  {label}
                </div>
              </foreignObject>{' '}
              <text class="chart-value" x={width} y={y + 17} text-anchor="end">
                {count}{' '}
                <tspan class="chart-share" dx="4">
                  {percent}
                </tspan>
              </text>
              <rect class="chart-track mark" y={y + 24} width={width} height={barHeight} rx="2" />
              {value > 0 && (
                <rect {...markOf(tone)} y={y + 24} width={Math.max(1, x(share))} height={barHeight} rx="2" />
              )}
            </Bar>
          );
        })}
      </g>
    </ChartSvg>
  );
}
