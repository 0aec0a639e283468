/** Saves a text as a file of the user's. */
export function download(name: string, text: string, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  // By the next turn the download holds a reference to the blob.
  setTimeout(() => URL.revokeObjectURL(link.href), 0);
}
