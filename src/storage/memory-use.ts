/** A bounded memory of this process. */
interface Memory {
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

/** Use of all memories of a name. */
export interface MemoryUse extends Memory {
  readonly name: string;
}

/** The named memories; those of a closed service are collected with it. */
const memories = new Set<readonly [name: string, memory: WeakRef<Memory>]>();

/** Lists a memory in `memoryUse`. */
export function listMemory(name: string, memory: Memory): void {
  memories.add([name, new WeakRef(memory)]);
}

/** The bytes and the lookups of all named memories of this process, added up by name. */
export function memoryUse(): readonly MemoryUse[] {
  const uses = new Map<string, MemoryUse>();
  for (const entry of memories) {
    const [name, reference] = entry;
    const memory = reference.deref();
    if (memory === undefined) memories.delete(entry);
    else {
      const { bytes = 0, hits = 0, misses = 0 } = uses.get(name) ?? {};
      uses.set(name, {
        name,
        bytes: bytes + memory.bytes,
        hits: hits + memory.hits,
        misses: misses + memory.misses,
      });
    }
  }
  return [...uses.values()];
}
