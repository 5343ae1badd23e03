type Versions = Readonly<Record<string, string>>;

/** The fields of the repository's package.json that the published manifests copy. */
export interface RootManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly repository: { readonly type: string; readonly url: string };
  readonly bugs: string;
  readonly homepage: string;
  readonly dependencies: Versions;
}

/** The package.json of a folder of packages/. */
export interface PartManifest {
  readonly name: string;
  readonly description?: string;
  readonly engines?: Versions;
  readonly bin?: Versions;
  readonly dependencies?: Versions;
}

/** The manifests that the published ones are made of. */
export interface Manifests {
  readonly root: RootManifest;
  readonly client: PartManifest;
  readonly terminal: PartManifest;
  readonly cli: PartManifest;
  readonly mcp: PartManifest;
}

export type Manifest = Readonly<Record<string, unknown>> & {
  readonly name: string;
  readonly dependencies?: Versions;
  readonly peerDependencies?: Versions;
  readonly exports: Readonly<Record<string, unknown>>;
};

const keywords = ['subscriptions', 'reporting', 'esim', 'iot', 'oauth2'];

/** The published package.json of the service, which has the readers' commands too. */
export function serverManifest({ root, terminal, cli }: Manifests): Manifest {
  return {
    ...sharedFields(root),
    name: root.name,
    description: root.description,
    engines: { node: '>=24.7' }, // argon2 of node:crypto
    keywords,
    repository: root.repository,
    bin: { subreport: 'lib/service/cli/subreport.mjs' },
    exports: {
      './openapi.json': './openapi.json',
      './openapi-operator.json': './openapi-operator.json',
      './package.json': './package.json',
    },
    files: ['lib', 'dist', 'openapi.json', 'openapi-operator.json', 'CHANGELOG.md'],
    dependencies: union(root, terminal, cli),
  };
}

/** All dependencies of manifests, by name. */
const union = (...manifests: readonly PartManifest[]): Versions =>
  Object.fromEntries(manifests.flatMap(({ dependencies = {} }) => Object.entries(dependencies)).toSorted());

/** The published package.json of the client library. */
export const clientManifest = ({ root, client }: Manifests): Manifest => ({
  ...partFields(root, client, 'client'),
  exports: {
    '.': { types: './lib/client/index.d.ts', default: './lib/client/index.js' },
    './package.json': './package.json',
  },
  main: './lib/client/index.js',
  types: './lib/client/index.d.ts',
  files: ['lib'],
  sideEffects: false,
});

/** The published package.json of the program in a folder of packages/. */
export function programManifest({ root, terminal, ...parts }: Manifests, folder: 'cli' | 'mcp'): Manifest {
  const { bin = {}, ...part } = parts[folder];
  return {
    ...partFields(root, part, folder),
    bin: Object.fromEntries(Object.entries(bin).map(([name, file]) => [name, `lib/${folder}/${file}`])),
    exports: { './package.json': './package.json' },
    files: ['lib'],
    dependencies: union(terminal, part),
  };
}

const partFields = (root: RootManifest, { name, description, engines }: PartManifest, folder: string) => ({
  ...sharedFields(root),
  name,
  description,
  engines,
  keywords: [...keywords, folder],
  repository: { ...root.repository, directory: `packages/${folder}` },
});

const sharedFields = ({ version, license, bugs, homepage }: RootManifest) => ({
  version,
  license,
  bugs,
  homepage,
  type: 'module',
  publishConfig: { access: 'public', provenance: true },
});
