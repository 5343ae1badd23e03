/** What `rclone config dump` prints. */
export type RcloneConfig = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Whether a remote is SFTP without a file of known hosts: rclone then accepts any host key. Looks
 * where rclone does: parameters of the remote, the environment, the configuration; and through
 * remotes that wrap another one, such as `crypt`.
 */
export function isUnpinnedSftp(remote: string, config: RcloneConfig, environment: NodeJS.ProcessEnv): boolean {
  const wrapped = new Set<string>();
  for (let next: string | undefined = remote; next !== undefined && !wrapped.has(next); ) {
    wrapped.add(next);
    const [, name = '', parameters = ''] = /^(:?[^,:]*)(,.*)?:/s.exec(next) ?? [];
    const option = (key: string): string | undefined =>
      new RegExp(`,${key}=("[^"]*"|'[^']*'|[^,:]*)`).exec(parameters)?.[1] ??
      environment[`RCLONE_CONFIG_${name}_${key}`.replaceAll('-', '_').toUpperCase()] ??
      (config[name]?.[key] as string | undefined);
    const type = name.startsWith(':') ? name.slice(1) : option('type');
    if (type === 'sftp')
      return !option('known_hosts_file') && !option('ssh') && !environment.RCLONE_SFTP_KNOWN_HOSTS_FILE;
    next = option('remote');
  }
  return false;
}
