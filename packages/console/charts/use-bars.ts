import type { RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';

/** Keys that move to the previous and to the next bar. */
const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/** The bars of a chart as one tab stop. The text of the hovered, focused or tapped one is shown. */
export interface Bars {
  readonly group: RefObject<SVGGElement | null>;
  /** The bar whose text is shown. */
  readonly shown: number | undefined;
  /** Attributes of a bar. */
  readonly barProps: (index: number) => {
    readonly tabindex: 0 | -1;
    readonly onFocus: () => void;
    readonly onBlur: () => void;
    readonly onKeyDown: (event: KeyboardEvent) => void;
    readonly onPointerEnter: (event: PointerEvent) => void;
    readonly onPointerLeave: (event: PointerEvent) => void;
    readonly onPointerDown: (event: PointerEvent) => void;
    readonly onClick: (event: MouseEvent) => void;
  };
}

/** The state and the handlers of a group of `count` bars, which has one child per bar. */
export function useBars(count: number): Bars {
  const group = useRef<SVGGElement>(null);
  const [tabStop, setTabStop] = useState(0);
  const [shown, setShown] = useState<number>();
  const tapShows = useRef(false);
  const last = count - 1;

  const focusOn = (index: number): void => {
    const bar = group.current?.children[Math.max(0, Math.min(index, last))];
    if (bar instanceof SVGElement) bar.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (event.key === 'Escape' && shown !== undefined) setShown(undefined);
    else if (event.key === 'Home') focusOn(0);
    else if (event.key === 'End') focusOn(last);
    else if (step !== undefined) focusOn(tabStop + step);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const hover = (index: number | undefined, { pointerType }: PointerEvent): void => {
    if (pointerType !== 'touch') setShown(index);
  };
  return {
    group,
    shown,
    barProps: (index) => ({
      tabindex: index === Math.min(tabStop, last) ? 0 : -1,
      onFocus: () => {
        setTabStop(index);
        setShown(index);
      },
      onBlur: () => setShown(undefined),
      onKeyDown,
      onPointerEnter: (event) => hover(index, event),
      onPointerLeave: (event) => hover(undefined, event),
      // a finger cannot hover: the first tap shows the text, and the second one follows the link
      onPointerDown: ({ pointerType }) => {
        tapShows.current = pointerType === 'touch' && shown !== index;
      },
      onClick: (event) => {
        if (tapShows.current) event.preventDefault();
        tapShows.current = false;
      },
    }),
  };
}
