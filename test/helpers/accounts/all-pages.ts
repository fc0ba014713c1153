/** Reads all pages of a list. Each page except the last names the place after which the next one begins. */
export async function allPages<Place, Page extends { next?: Place | undefined }>(
  read: (after?: Place) => Promise<Page>,
): Promise<Page[]> {
  const pages = [await read()];
  for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next) pages.push(await read(next));
  return pages;
}
