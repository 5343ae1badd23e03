import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Brand } from './brand.tsx';
import { IconButton } from './button.tsx';
import { ConnectionBar } from './connection.tsx';
import { formatUtc } from './format-date.ts';
import { Icon } from './icon.tsx';
import { CircleUser, Ellipsis, Keyboard, LogOut, Monitor, Moon, Search, Sun } from './icons.ts';
import { findIsShown, keysAreShown } from './keyboard.tsx';
import { LiveRegion } from './live-region.tsx';
import { currentLocation, Link, navigate, pagePathOf } from './location.tsx';
import { Menu } from './menu.tsx';
import type { Page } from './page.ts';
import { strings } from './strings.ts';
import { type Theme, theme, themes } from './theme.ts';
import { Tooltip } from './tooltip.tsx';

interface FrameProps {
  readonly pages: readonly Page[];
  readonly current: Page | undefined;
  /** Beside the product's name: "operator". */
  readonly word?: string;
  /** The tenant whose data is shown. */
  readonly context?: string;
  /** Name of the user. */
  readonly user: string;
  readonly onSignOut: () => void;
  readonly title: string;
  /** A control of all pages, before the others. */
  readonly control?: ComponentChildren;
  /** Whether there is a dialog that finds pages and records. */
  readonly hasFind: boolean;
  readonly children: ComponentChildren;
}

/** The frame of every page: navigation, title, tenant, theme and account. */
export const Frame = ({
  pages,
  current,
  word,
  context,
  user,
  onSignOut,
  title,
  control,
  hasFind,
  children,
}: FrameProps) => (
  <div class="frame">
    <a class="skip no-print" href="#main">
      {strings.skip}
    </a>
    <nav class="rail no-print" aria-label={strings.pages}>
      <Brand />
      <ul>
        {pages.map((page, index) => (
          <li key={page.path} data-wide={(hasMore(pages) && index >= barSlots - 1) || undefined}>
            <Link href={page.path} class="rail-link" aria-current={page === current ? 'page' : undefined}>
              <Icon icon={page.icon} size={18} />
              <span>{page.label}</span>
            </Link>
          </li>
        ))}
        {hasMore(pages) && <MorePages pages={pages.slice(barSlots - 1)} current={current} />}
      </ul>
    </nav>
    <header class="bar row">
      {/* focus goes here after a page change */}
      <h1 id="title" class="cut" tabIndex={-1} title={title}>
        {title}
      </h1>
      {word !== undefined && <span class="brand-word small">{word}</span>}
      <span class="context cut soft" title={context}>
        {context}
      </span>
      <PrintedAt />
      {control}
      <div class="bar-actions row gap-1 no-print">
        {hasFind && (
          <IconButton
            icon={Search}
            label={strings.find}
            onClick={() => {
              findIsShown.value = true;
            }}
          />
        )}
        <ThemeMenu />
        <Menu
          label={<span class="user cut">{user}</span>}
          name={`${strings.account}: ${user}`}
          icon={CircleUser}
          variant="quiet"
          items={[
            {
              label: strings.keys,
              icon: Keyboard,
              onSelect: () => {
                keysAreShown.value = true;
              },
            },
            { label: strings.signOut, icon: LogOut, onSelect: onSignOut },
          ]}
        />
      </div>
    </header>
    <main id="main" tabIndex={-1} key={pagePathOf(currentLocation.value.path)}>
      <ConnectionBar />
      {children}
    </main>
    <LiveRegion />
    <Tooltip />
  </div>
);

/** When the page is printed, on paper only: its figures are of that time. */
function PrintedAt() {
  const element = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const print = (): void => {
      if (element.current !== null) element.current.textContent = formatUtc(new Date());
    };
    window.addEventListener('beforeprint', print);
    return () => window.removeEventListener('beforeprint', print);
  }, []);
  return <span ref={element} class="on-paper" />;
}

/** Pages that the bar of a narrow window holds, "More" included. */
const barSlots = 5;

const hasMore = (pages: readonly Page[]): boolean => pages.length > barSlots;

/** The pages that do not fit into the bar of a narrow window. */
const MorePages = ({ pages, current }: Pick<FrameProps, 'pages' | 'current'>) => (
  <li class="rail-more" data-current={pages.some((page) => page === current) || undefined}>
    <Menu
      label={strings.more}
      name={strings.morePages(pages.find((page) => page === current)?.label)}
      icon={Ellipsis}
      variant="quiet"
      items={pages.map((page) => ({
        label: page.label,
        icon: page.icon,
        checked: page === current,
        onSelect: () => navigate(page.path),
      }))}
    />
  </li>
);

const themeIcons = { system: Monitor, light: Sun, dark: Moon } as const;

function ThemeMenu() {
  const chosen = theme.value;
  const choose = (value: Theme) => () => {
    theme.value = value;
  };
  return (
    <Menu
      label=""
      name={`${strings.theme.label}: ${strings.theme[chosen]}`}
      icon={themeIcons[chosen]}
      variant="quiet"
      items={themes.map((value) => ({
        label: strings.theme[value],
        icon: themeIcons[value],
        checked: value === chosen,
        onSelect: choose(value),
      }))}
    />
  );
}
