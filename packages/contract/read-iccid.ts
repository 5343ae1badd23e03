/**
 * Reads an ICCID as people and programs write it: in groups, with dashes or invisible characters,
 * between quotes or brackets, as a formula, after its name, in full-width or Arabic digits, and
 * with the F that fills its last byte on a SIM. Returns any other text unchanged.
 *
 * @example readIccid('="8944 5001-0219 8304 826F"') // '8944500102198304826'
 */
export function readIccid(text: string): string {
  const digits = text.replaceAll(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, (each) => `${each.charCodeAt(0) % 16}`);
  const joined = digits.replaceAll(/[\s\p{Cf}\p{Pd}\u2212]/gu, '');
  return (besideOthers.test(digits) ? undefined : written.exec(joined)?.[1]) ?? text;
}

/** A whole ICCID, and digits that are none of its own: a number of pieces, the end of a range. */
const besideOthers = /\d{19}\D+\d|\d\D+\d{19}/;

/** Not among the punctuation: `*`, `%`, `.` and `…`, after which digits are missing. */
const written =
  /^["'`=:#,;\p{Ps}\p{Pe}\p{Pi}\p{Pf}]*(?:(?:iccid|sim)["'=:#]*)?(\d{15,22})f?["'`,;\p{Ps}\p{Pe}\p{Pi}\p{Pf}]*$/iu;
