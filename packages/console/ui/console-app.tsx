import { signal } from '@preact/signals';
import { Component, type ComponentChildren, type ComponentType, render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import './copy-rows.ts';
import { Dialog } from './dialog.tsx';
import { EmptyState } from './empty-state.tsx';
import { ErrorNote } from './error-note.tsx';
import { Frame } from './frame.tsx';
import { CircleHelp } from './icons.ts';
import { keepFocus } from './keep-focus.ts';
import { findIsShown, KeyboardHelp, useFindKey, useKeysUntil } from './keyboard.tsx';
import { announceShown } from './live-region.tsx';
import { currentLocation, hrefOf, Link, navigate } from './location.tsx';
import { type Page, pageAt } from './page.ts';
import { titleOfThing } from './page-title.ts';
import type { SessionBody, SessionKeeper, SessionState, SignInWay } from './session.ts';
import { Loading, Skeleton } from './skeleton.tsx';
import { strings } from './strings.ts';

interface ConsoleAppProps<Body extends SessionBody> {
  readonly keeper: SessionKeeper<Body>;
  readonly pages: readonly Page[];
  readonly word?: string;
  /** The name of the user and the tenant or service whose data is shown. */
  readonly describe: (session: Body) => { readonly user: string; readonly context?: string };
  /** Imports the dialog that finds pages and records. */
  readonly loadFind?: () => Promise<ComponentType<FindProps>>;
  /** How the pages show a past time; without it, none does. */
  readonly past?: Past;
  /** The page, or the dialog over one whose session has expired, with which the user signs in. */
  readonly SignIn: ComponentType<{ readonly ways: readonly SignInWay[]; readonly expired?: Body }>;
}

/** The choice of the time that the pages show. */
interface Past {
  readonly Control: ComponentType;
  /** Why no page can show the time of the address, if it names such a time. */
  readonly faultOf: () => string | undefined;
}

/** What a dialog that finds pages and records receives. */
export interface FindProps {
  readonly pages: readonly Page[];
  /** What was typed before the dialog was there. */
  readonly typed: string;
  readonly onClose: () => void;
}

/** Why the last sign-out failed: the session may still exist. */
const signOutError = signal<unknown>(undefined);

async function signOut<Body extends SessionBody>(keeper: SessionKeeper<Body>): Promise<void> {
  signOutError.value = undefined;
  await keeper.signOut().catch((error: unknown) => {
    signOutError.value = error;
  });
}

/** Draws a console; the page of the address is loaded while the session is looked up. */
export function startConsole<Body extends SessionBody>(props: ConsoleAppProps<Body>): void {
  const first = pageAt(props.pages, currentLocation.value.path);
  if (first !== undefined) void loadPage(first);
  void props.keeper.start();
  const root = document.getElementById('app');
  if (root !== null) render(<ConsoleApp {...props} />, root);
}

/** A whole console: the sign-in page, or the frame with the page of the address. */
function ConsoleApp<Body extends SessionBody>(props: ConsoleAppProps<Body>) {
  const state: SessionState<Body> = props.keeper.state.value;
  const { SignIn } = props;
  useEffect(keepFocus, []);
  if (state.kind === 'starting') return null;
  if (state.kind === 'unreachable')
    return (
      <main class="alone">
        <ErrorNote error={state.error} onRetry={() => void props.keeper.start()} />
      </main>
    );
  if (state.kind === 'signed-out') return <SignIn ways={state.ways} />;
  return (
    <>
      <SignedIn key={props.keeper.visit} {...props} session={state.session} hasEnded={state.kind === 'expired'} />
      {state.kind === 'expired' && <SignIn ways={state.ways} expired={state.session} />}
      {signOutError.value !== undefined && (
        <Dialog
          title={strings.notSignedOut}
          onClose={() => {
            signOutError.value = undefined;
          }}
        >
          <ErrorNote error={signOutError.value} onRetry={() => void signOut(props.keeper)} />
        </Dialog>
      )}
      <KeyboardHelp />
      {state.kind === 'signed-in' && props.loadFind && <Find load={props.loadFind} pages={props.pages} />}
    </>
  );
}

/** The dialog that finds pages and records, once it is opened with its key or its button. */
function Find({ load, pages }: { load: () => Promise<ComponentType<FindProps>>; pages: readonly Page[] }) {
  const [found, setFound] = useState<{ Dialog: ComponentType<FindProps> }>();
  const isOpen = findIsShown.value;
  const isLoading = isOpen && found === undefined;
  const typed = useKeysUntil(isLoading);
  const close = (): void => {
    typed.current = '';
    findIsShown.value = false;
  };
  useEffect(() => {
    if (!isLoading) return;
    load().then(
      (Dialog) => setFound({ Dialog }),
      () => {
        close();
        announceShown(strings.findNotLoaded);
      },
    );
  }, [isLoading]);
  useFindKey();
  if (!isOpen || found === undefined) return null;
  return <found.Dialog pages={pages} typed={typed.current} onClose={close} />;
}

function SignedIn<Body extends SessionBody>({
  keeper,
  pages,
  word,
  describe,
  session,
  hasEnded,
  loadFind,
  past,
}: ConsoleAppProps<Body> & { session: Body; hasEnded: boolean }) {
  const page = pageAt(pages, currentLocation.value.path);
  const thing = hasEnded ? undefined : titleOfThing();
  const title = thing ?? page?.label ?? strings.notFound;
  const { user, context } = describe(session);
  useTitle([title, ...(thing !== undefined && page ? [page.label] : []), context ?? word ?? ''].join(' · '));
  return (
    <Frame
      pages={pages}
      current={page}
      {...(word !== undefined && { word })}
      user={user}
      {...(context !== undefined && { context })}
      title={title}
      onSignOut={() => void signOut(keeper)}
      hasFind={loadFind !== undefined}
      control={past && <past.Control />}
    >
      <div class="page stack">{hasEnded ? <Placeholder /> : <PageAtTime page={page} past={past} />}</div>
    </Frame>
  );
}

/** A page at the time of the address: no page shows the present under the name of a past time. */
function PageAtTime({ page, past }: { readonly page: Page | undefined; readonly past: Past | undefined }) {
  const time = currentLocation.value.query.get('as-of') ?? undefined;
  const fault = past?.faultOf();
  if (fault !== undefined) return <NoPast title={strings.faultyTime} hint={fault} />;
  if (time !== undefined && page !== undefined && page.hasPast !== true)
    return <NoPast title={strings.noPast} hint={past === undefined ? strings.noPastHint : strings.noPastHere} />;
  return <CurrentPage page={page} time={time} />;
}

const CurrentPage = ({ page, time }: { readonly page: Page | undefined; readonly time: string | undefined }) =>
  page === undefined ? (
    <NotFound />
  ) : (
    <Boundary key={`${page.path} ${time}`}>
      <LoadedPage page={page} />
    </Boundary>
  );

/** Names the page in the tab, and moves focus to its title when another page is shown. */
function useTitle(title: string): void {
  const { path } = currentLocation.value;
  const entered = useRef({ path, title });
  useEffect(() => {
    document.title = `${title} · subreport`;
    if (entered.current.title === title) return;
    // the name of what a page is about may arrive later, when the user has begun
    if (entered.current.path !== path) document.getElementById('title')?.focus({ preventScroll: true });
    entered.current = { path, title };
  }, [title, path]);
}

/** The components that were imported, so that a page is drawn at once when it is shown again. */
const loaded = signal<ReadonlyMap<Page, ComponentType>>(new Map());
const failed = signal<unknown>(undefined);

/** Imports the component of a page. */
async function loadPage(page: Page): Promise<void> {
  if (loaded.peek().has(page)) return;
  failed.value = undefined;
  try {
    const component = await page.load();
    loaded.value = new Map([...loaded.peek(), [page, component]]);
  } catch (error) {
    failed.value = error;
  }
}

function LoadedPage({ page }: { page: Page }): ComponentChildren {
  useEffect(() => void loadPage(page), [page]);
  const Component = loaded.value.get(page);
  if (Component !== undefined) return <Component />;
  // a new version was deployed, and the script of this one is gone
  if (failed.value !== undefined) return <ErrorNote error={failed.value} onRetry={() => window.location.reload()} />;
  return <Placeholder />;
}

/**
 * Shown while a page loads, and after its session has ended, so that nobody who finds the
 * screen sees its data. The address keeps the place.
 */
const Placeholder = () => (
  <Loading>
    <Skeleton height="96px" />
    <Skeleton height="320px" />
  </Loading>
);

/** Shows the error of a page that cannot be drawn; the frame stays usable. */
class Boundary extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  override state: { error?: unknown } = {};

  override componentDidCatch(error: unknown): void {
    this.setState({ error });
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <ErrorNote error={error} onRetry={() => this.setState({ error: undefined })} />;
  }
}

/** Refuses a past time that cannot be shown. */
function NoPast({ title, hint }: { readonly title: string; readonly hint: string }) {
  const { path, query } = currentLocation.value;
  const present = new URLSearchParams(query);
  present.delete('as-of');
  present.delete('zone');
  return (
    <EmptyState icon={CircleHelp} title={title} text={hint}>
      <Button onClick={() => navigate(hrefOf(path, present), { keeps: false })}>{strings.toPresent}</Button>
    </EmptyState>
  );
}

const NotFound = () => (
  <EmptyState icon={CircleHelp} title={strings.notFound} text={strings.notFoundHint}>
    <Link class="button secondary" href="/console/">
      {strings.toStart}
    </Link>
  </EmptyState>
);
