/** Pixels of the longer side at most: vision models scale larger ones down themselves. */
const maxSide = 1_568;

/** Bytes of a file that are read at most. */
const maxBytes = 40 * 1024 * 1024;

/**
 * An image file as a data URL that is fit to be sent: not larger than models look at.
 * @throws Error with a sentence for the person when it is no image
 */
export async function downscaleImage(file: File): Promise<string> {
  if (file.size > maxBytes) throw new Error(`${file.name} is larger than 40 MB: choose a smaller image.`);
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error(`${file.name} is not an image that this browser can read.`);
  });
  const scale = Math.min(1, maxSide / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas.toDataURL(file.type === 'image/png' ? 'image/png' : 'image/jpeg', 0.85);
}
