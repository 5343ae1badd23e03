import { Gauge, type Registry } from 'prom-client';

/** The certificates that are measured. */
export interface MeasuredCertificates {
  /** When the certificate of each listener that uses TLS expires, in UTC epoch seconds. */
  readonly certificateExpiries: () => readonly (readonly [listener: string, expiresAt: number])[];
}

/** Adds the expiry of the certificates to a registry. */
export function addCertificateMetrics(registry: Registry, { certificateExpiries }: MeasuredCertificates): void {
  new Gauge({
    name: 'subreport_certificate_expiry_timestamp_seconds',
    help: 'When the certificate that a listener uses expires, as a Unix time; absent without TLS',
    labelNames: ['listener'],
    aggregator: 'min',
    registers: [registry],
    collect() {
      for (const [listener, expiresAt] of certificateExpiries()) this.set({ listener }, expiresAt);
    },
  });
}
