/** The fields of the repository's package.json that the published manifests copy. */
export interface RootManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly repository: { readonly type: string; readonly url: string };
  readonly bugs: string;
  readonly homepage: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

export type Manifest = Readonly<Record<string, unknown>>;

const keywords = ['subscriptions', 'reporting', 'esim', 'iot', 'oauth2'];

/** The published package.json of the server and the command line. */
export function serverManifest(root: RootManifest): Manifest {
  const optional = Object.keys(root.dependencies).filter(isOptional);
  return {
    ...sharedFields(root),
    name: root.name,
    description: root.description,
    keywords,
    repository: root.repository,
    bin: { subreport: 'lib/service/cli/subreport.mjs' },
    man: './man/subreport.1',
    exports: {
      '.': { types: './lib/service/cli/start-service.d.ts', default: './lib/service/cli/start-service.js' },
      './openapi.json': './openapi.json',
      './openapi-operator.json': './openapi-operator.json',
      './package.json': './package.json',
    },
    main: './lib/service/cli/start-service.js',
    types: './lib/service/cli/start-service.d.ts',
    files: ['lib', 'dist', 'man', 'openapi.json', 'openapi-operator.json', 'CHANGELOG.md'],
    dependencies: pick(root.dependencies, (name) => !isOptional(name)),
    // Only traces need them. As optional dependencies, npm on Node.js 20 would leave them out
    // because of their engines, also where the service runs on the pinned Node.js.
    peerDependencies: pick(root.dependencies, isOptional),
    peerDependenciesMeta: Object.fromEntries(optional.map((name) => [name, { optional: true }])),
    // a pinned Node.js for each platform: the command runs on it if the installed one is too old
    optionalDependencies: root.optionalDependencies,
  };
}

const isOptional = (name: string): boolean => name.startsWith('@opentelemetry/');

const pick = (versions: Readonly<Record<string, string>>, isIncluded: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(versions).filter(([name]) => isIncluded(name)));

/** The published package.json of the client library. */
export function clientManifest(root: RootManifest): Manifest {
  return {
    ...sharedFields(root),
    name: '@subreport/client',
    description: 'Client of a subreport service: reports, exports and changes of data subscriptions, with its tokens',
    keywords: [...keywords, 'client', 'sdk'],
    repository: { ...root.repository, directory: 'packages/client' },
    exports: {
      '.': { types: './lib/client/index.d.ts', default: './lib/client/index.js' },
      './package.json': './package.json',
    },
    main: './lib/client/index.js',
    types: './lib/client/index.d.ts',
    files: ['lib'],
    sideEffects: false,
  };
}

const sharedFields = ({ version, license, bugs, homepage, engines }: RootManifest): Manifest => ({
  version,
  license,
  bugs,
  homepage,
  type: 'module',
  engines,
  publishConfig: { access: 'public', provenance: true },
});
