/** All pages of a list, each of which says behind which place the next one begins, unless it is the last. */
export async function allPages<Place, Page extends { next?: Place | undefined }>(
  read: (after?: Place) => Promise<Page>,
): Promise<Page[]> {
  const pages = [await read()];
  for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next) pages.push(await read(next));
  return pages;
}
