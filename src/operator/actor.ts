/** Who performs an action of the operator. */
export type Actor = OperatorActor | CommandActor | ClientActor;

/** The holder of an operator's token; `address` is where the request came from. */
export interface OperatorActor {
  readonly kind: 'operator';
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** When the token expires, in UTC epoch seconds; `null` if never. */
  readonly expiresAt: number | null;
  readonly address: string;
}

/** A user of the machine who runs a command. */
interface CommandActor {
  readonly kind: 'command';
  readonly user: string;
}

/** A client of a tenant, which loads records. */
interface ClientActor {
  readonly kind: 'client';
  readonly clientId: string;
  readonly address: string;
}
