import { type Signal, signal } from '@preact/signals';
import { noteFailure, noteResponse } from './connection.tsx';
import { isGatewayFailure, requestJson } from './request.ts';

/** What the service says of every session. */
export interface SessionBody {
  /** Time without use after which the session ends, in seconds. */
  readonly idle_seconds: number;
  /** When it ends unless it is used, as of this response. */
  readonly expires_at: string;
  /** When it ends, however often it is used. */
  readonly ends_at: string;
}

/** What the service says to a browser without a session. */
interface SignedOutBody {
  readonly sign_in: readonly string[];
}

/** A way to sign in: with credentials in a form, or at the identity provider. */
export type SignInWay = 'secret' | 'provider';

export type SessionState<Body extends SessionBody> =
  | { readonly kind: 'starting' }
  | { readonly kind: 'unreachable'; readonly error: unknown }
  | { readonly kind: 'signed-out'; readonly ways: readonly SignInWay[] }
  | { readonly kind: 'signed-in'; readonly session: Body }
  /** It ended while a page was open, whose place is kept until the user signs in again. */
  | { readonly kind: 'expired'; readonly session: Body; readonly ways: readonly SignInWay[] };

/** What a tab tells the others. */
type SessionEvent = 'signed in' | 'signed out';

const path = '/console/session';
/** Time for the service to begin its response. */
const responseMs = 30_000;
/** Interval of the checks of a session that should have ended. */
const recheckMs = 60_000;

/** The session of this page. The browser sends its cookie; no script can read it. */
export class SessionKeeper<Body extends SessionBody> {
  readonly state: Signal<SessionState<Body>> = signal<SessionState<Body>>({ kind: 'starting' });
  /** Changes with each user, so that nothing drawn for one is kept for the next. */
  visit = 0;
  readonly #channel = new BroadcastChannel('subreport-session');
  readonly #isSame: (a: Body, b: Body) => boolean;
  #ended = new AbortController();
  #resumed = Promise.withResolvers<void>();
  #activeAt = Date.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #forgets: (() => void)[] = [];

  /** `isSame` compares the users of two sessions. */
  constructor(isSame: (a: Body, b: Body) => boolean) {
    this.#isSame = isSame;
    this.#channel.addEventListener('message', ({ data }) => void this.#follow(data));
    // Back from another site: the session may have ended, or be that of someone else
    window.addEventListener('pageshow', ({ persisted }) => void (persisted && this.#leaveAndStart()));
    // to a tab that was asleep, whose timers may not have run
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') void this.check();
    });
  }

  /** Runs `forget` when the user leaves, so that the next user sees none of their data. */
  onLeave(forget: () => void): void {
    this.#forgets.push(forget);
  }

  /** Finds out whether the browser has a session. */
  async start(): Promise<void> {
    try {
      const found = await requestJson<Body | SignedOutBody>(path);
      if (isSignedOut(found)) {
        this.state.value = { kind: 'signed-out', ways: waysOf(found) };
        return;
      }
      this.#begin(found);
      this.#noteActivity();
    } catch (error) {
      this.state.value = { kind: 'unreachable', error };
    }
  }

  /** Begins a session with credentials. Rejects with `RequestError`. */
  async signIn(credentials: object): Promise<void> {
    this.#begin(await requestJson<Body>(path, { method: 'POST', body: credentials }));
    this.#noteActivity();
    this.#tell('signed in');
  }

  /** Ends the session; responses that arrive later are dropped. */
  async signOut(): Promise<void> {
    await requestJson(path, { method: 'DELETE' });
    this.#tell('signed out');
    await this.#leaveAndStart();
  }

  #tell(event: SessionEvent): void {
    this.#channel.postMessage(event);
  }

  /** Follows another tab, which has the same cookie. */
  async #follow(event: SessionEvent): Promise<void> {
    const { kind } = this.state.value;
    if (event === 'signed out' && kind !== 'signed-out') await this.#leaveAndStart();
    if (event === 'signed in') await (kind === 'signed-out' ? this.start() : this.check());
  }

  async #leaveAndStart(): Promise<void> {
    this.#leave();
    await this.start();
  }

  /** Asks in the background whether the session still exists. */
  async check(): Promise<void> {
    const { kind } = this.state.value;
    if (kind !== 'signed-in' && kind !== 'expired') return;
    try {
      const found = await requestJson<Body | SignedOutBody>(path, { background: true });
      if (isSignedOut(found)) this.#expire(waysOf(found));
      else this.#begin(found);
    } catch {
      this.#watchEnd();
    }
  }

  /**
   * `fetch` with the cookie. If the session has expired, the request waits until the user has
   * signed in again, and is then sent once more. After sign-out it rejects with an `AbortError`,
   * and if no response begins within `waitMs` with a `TimeoutError`.
   */
  readonly fetch = async (input: RequestInfo | URL, init: RequestInit = {}, waitMs = responseMs): Promise<Response> => {
    for (let isRepeated = false; ; isRepeated = true) {
      const { signal } = this.#ended;
      const response = await this.#send(input, init, signal, waitMs);
      if (!new Headers(init.headers).has('x-background')) this.#noteActivity();
      if (response.status !== 401) return response;
      await this.check();
      if (this.state.value.kind === 'expired') await settledOrAborted(this.#resumed.promise, signal);
      else if (isRepeated || this.state.value.kind !== 'signed-in') return response;
    }
  };

  async #send(input: RequestInfo | URL, init: RequestInit, ended: AbortSignal, waitMs: number): Promise<Response> {
    const slow = new AbortController();
    const timer = setTimeout(() => slow.abort(new DOMException('no response', 'TimeoutError')), waitMs);
    const signals = [ended, slow.signal, ...(init.signal ? [init.signal] : [])];
    try {
      const response = await fetch(input, { ...init, credentials: 'same-origin', signal: AbortSignal.any(signals) });
      if (isGatewayFailure(response)) noteFailure();
      else noteResponse();
      return response;
    } catch (error) {
      if (error instanceof TypeError || slow.signal.aborted) noteFailure();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #begin(session: Body): void {
    const before = this.state.value;
    const known = 'session' in before ? before.session : undefined;
    // another user: what the page shows and has requested belongs to the one before
    if (known !== undefined && !this.#isSame(known, session)) this.#leave();
    this.state.value = { kind: 'signed-in', session };
    this.#resumed.resolve();
    this.#resumed = Promise.withResolvers<void>();
    this.#watchEnd();
  }

  #expire(ways: readonly SignInWay[]): void {
    const { value } = this.state;
    if (value.kind === 'signed-in') this.state.value = { kind: 'expired', session: value.session, ways };
  }

  #leave(): void {
    clearTimeout(this.#timer);
    this.#ended.abort(new DOMException('signed out', 'AbortError'));
    this.#ended = new AbortController();
    this.visit += 1;
    for (const forget of this.#forgets) forget();
    this.state.value = { kind: 'starting' };
  }

  #noteActivity(): void {
    this.#activeAt = Date.now();
    this.#watchEnd();
  }

  /** Checks the session when it should have ended: idle since the last request, or at its end. */
  #watchEnd(): void {
    const { value } = this.state;
    if (value.kind !== 'signed-in') return;
    const { idle_seconds, expires_at, ends_at } = value.session;
    const idleMs = Math.max(this.#activeAt + idle_seconds * 1000, Date.parse(expires_at));
    const endMs = Math.min(idleMs, Date.parse(ends_at));
    const leftMs = endMs - Date.now();
    clearTimeout(this.#timer);
    // A second later, so that the service agrees. It may still have the session: another tab was
    // active, or the clocks differ. Timers hold at most 2^31 ms.
    const delayMs = leftMs > 0 ? Math.min(leftMs + 1_000, 2_000_000_000) : recheckMs;
    this.#timer = setTimeout(() => void this.check(), delayMs);
  }
}

const isSignedOut = (found: SessionBody | SignedOutBody): found is SignedOutBody => 'sign_in' in found;

const waysOf = ({ sign_in: ways }: SignedOutBody): readonly SignInWay[] =>
  ways.filter((way) => way === 'secret' || way === 'provider');

function settledOrAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}
