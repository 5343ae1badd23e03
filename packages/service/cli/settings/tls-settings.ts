import { hostInUrl, text } from './setting.ts';

export const tlsSettings = {
  TLS_CERT_FILE: text(
    '',
    'a file, such as /etc/subreport/tls/fullchain.pem',
    'Certificate of the public listener in PEM, followed by its intermediate certificates. With it and TLS_KEY_FILE, the listener accepts only TLS; SIGHUP reads both files again (docs/operators/tls.md)',
  ),
  TLS_KEY_FILE: text('', 'a file, such as /etc/subreport/tls/privkey.pem', 'Private key of TLS_CERT_FILE in PEM'),
  MANAGEMENT_TLS_CERT_FILE: text(
    '',
    'a file, such as /etc/subreport/tls/fullchain.pem',
    "Certificate of the operator's API; may be the same file as TLS_CERT_FILE",
  ),
  MANAGEMENT_TLS_KEY_FILE: text(
    '',
    'a file, such as /etc/subreport/tls/privkey.pem',
    'Private key of MANAGEMENT_TLS_CERT_FILE',
  ),
} as const;

type ListenerPrefix = '' | 'MANAGEMENT_';

/** The values of these settings, and the addresses of the listeners. */
export type TlsValues = { readonly [N in keyof typeof tlsSettings | `${ListenerPrefix}HOST`]: string };

export interface TlsFiles {
  readonly certificate: string;
  readonly key: string;
}

/** The files of a listener; `undefined` if it does not use TLS. */
export function tlsFiles(values: TlsValues, prefix: ListenerPrefix): TlsFiles | undefined {
  const certificate = values[`${prefix}TLS_CERT_FILE`];
  return certificate === '' ? undefined : { certificate, key: values[`${prefix}TLS_KEY_FILE`] };
}

export const schemeOf = (values: TlsValues, prefix: ListenerPrefix): 'http' | 'https' =>
  tlsFiles(values, prefix) === undefined ? 'http' : 'https';

/** Errors of the TLS settings that concern several of them. */
export function tlsFaults(values: TlsValues, publicUrl: string): string[] {
  const faults = (['', 'MANAGEMENT_'] as const).flatMap((prefix) => listenerFaults(values, prefix));
  if (values.TLS_CERT_FILE !== '' && publicUrl.startsWith('http:')) {
    faults.push(
      `Cannot use TLS_CERT_FILE: PUBLIC_URL must start with https:// when the service itself uses TLS: current value is '${publicUrl}'`,
    );
  }
  return faults;
}

function listenerFaults(values: TlsValues, prefix: ListenerPrefix): string[] {
  const names = [`${prefix}TLS_CERT_FILE`, `${prefix}TLS_KEY_FILE`] as const;
  const [given] = names.filter((name) => values[name] !== '');
  if (given === undefined) return [];
  const missing = names.find((name) => values[name] === '');
  if (missing !== undefined)
    return [`Cannot use ${given}: ${missing} must be set as well: current value is '${values[given]}'`];
  // it would listen on two addresses, and one of them would keep its first certificate
  if (values[`${prefix}HOST`] === 'localhost')
    return [`Cannot use ${given}: ${prefix}HOST must be an address, such as 127.0.0.1: current value is 'localhost'`];
  return [];
}

/** The hosts that are all addresses of this machine. */
export const everyAddress: readonly string[] = ['0.0.0.0', '::'];

/** The URL at which processes of this machine reach a listener. */
export function localUrl(host: string, port: number, scheme: 'http' | 'https' = 'http'): string {
  return `${scheme}://${everyAddress.includes(host) ? '127.0.0.1' : hostInUrl(host)}:${port}`;
}
