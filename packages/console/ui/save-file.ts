/** Has the browser save texts or bytes as a file of a media type. */
export function saveFile(name: string, type: string, ...parts: readonly BlobPart[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Safari reads the file after the click has returned
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
