type Versions = Readonly<Record<string, string>>;

/** The packages of a lock file by their places, such as `node_modules/a/node_modules/b`. */
export type LockedPackages = Readonly<
  Record<string, { version?: string; dependencies?: Versions; optionalDependencies?: Versions }>
>;

/** The name of the package at a place. */
export const nameAt = (place: string): string => place.slice(place.lastIndexOf('node_modules/') + 13);

/**
 * Adds what the dependencies need, at the versions with which the tests run: npm 12 ignores a
 * published `npm-shrinkwrap.json`. A package that is locked at two versions is not added.
 */
export function lockVersions(direct: Versions, locked: LockedPackages): Versions {
  const places = new Set(Object.keys(direct).map((name) => `node_modules/${name}`));
  // the set grows as it is read
  for (const place of places) {
    const { dependencies, optionalDependencies } = locked[place] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
      places.add(locate(name, place, locked));
  }
  const found = Map.groupBy(places, nameAt);
  const versions = [...found].map(([name, at]) => [name, new Set(at.map((place) => locked[place]?.version))] as const);
  const single = versions.flatMap(([name, [version, ...others]]) => (others.length > 0 ? [] : [[name, version]]));
  return { ...Object.fromEntries(single.toSorted()), ...direct };
}

/** Where Node.js finds a package that the package at a place imports. */
function locate(name: string, place: string, locked: LockedPackages): string {
  const own = `${place}/node_modules/${name}`;
  if (locked[own] !== undefined) return own;
  const end = place.lastIndexOf('/node_modules/');
  return end === -1 ? `node_modules/${name}` : locate(name, place.slice(0, end), locked);
}
