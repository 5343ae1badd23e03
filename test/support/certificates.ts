import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate for 127.0.0.1 and its key, made by openssl; it is its own authority. */
export interface TestCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly pem: string;
}

/** Makes a certificate in a folder. */
export function makeCertificate(folder: string, name: string, days = 30): TestCertificate {
  mkdirSync(folder, { recursive: true });
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const made = ['-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-days', String(days)];
  execFileSync('openssl', ['req', ...made, ...names, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  return { certificate, key, pem: readFileSync(certificate, 'utf8') };
}

/** How a certificate differs from one of any host that is valid now. */
export interface SignedOptions {
  /** `subjectAltName`. */
  readonly host: string;
  /** Its first and last instant, such as `20200101000000Z`. */
  readonly dates?: readonly [from: string, to: string];
  /** Further extensions, such as `basicConstraints=CA:FALSE`. */
  readonly extensions?: readonly string[];
}

/** Makes the certificate `name` in a folder, signed by another one. */
export function signCertificate(
  folder: string,
  name: string,
  authority: Pick<TestCertificate, 'certificate' | 'key'>,
  { host, dates = ['20200101000000Z', '20490101000000Z'], extensions = [] }: SignedOptions,
): TestCertificate {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const [certificate, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  writeFileSync(join(folder, 'index.txt'), '');
  writeFileSync(join(folder, 'serial'), '01\n');
  writeFileSync(
    join(folder, 'ca.conf'),
    `[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=any\nx509_extensions=names\n[any]\ncommonName=supplied\n[names]\n${[`subjectAltName=${host}`, ...extensions].join('\n')}\n`,
  );
  const made = ['-new', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-subj', `/CN=${name}`];
  openssl('req', ...made, '-keyout', key, '-out', `${name}.csr`);
  openssl(
    ...['ca', '-batch', '-config', 'ca.conf', '-cert', authority.certificate, '-keyfile', authority.key],
    ...['-startdate', dates[0], '-enddate', dates[1], '-in', `${name}.csr`, '-out', certificate],
  );
  return { certificate, key, pem: readFileSync(certificate, 'utf8') };
}

/** A certificate behind links, as Kubernetes mounts it: a renewal replaces the link `..data`. */
export interface LinkedCertificate extends TestCertificate {
  /** Makes another certificate and links to it. */
  readonly renew: (days?: number) => TestCertificate;
  readonly remove: () => void;
}

/** Makes a certificate behind links in a new folder. */
export function linkCertificate(): LinkedCertificate {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-tls-'));
  let count = 0;
  const renew = (days = 30): TestCertificate => {
    count += 1;
    const made = makeCertificate(join(folder, `..${count}`), `number ${count}`, days);
    symlinkSync(`..${count}`, join(folder, '..next'));
    renameSync(join(folder, '..next'), join(folder, '..data'));
    return made;
  };
  const first = renew();
  for (const file of ['tls.crt', 'tls.key']) symlinkSync(`..data/${file}`, join(folder, file));
  return {
    ...first,
    certificate: join(folder, 'tls.crt'),
    key: join(folder, 'tls.key'),
    renew,
    remove: () => rmSync(folder, { recursive: true }),
  };
}
