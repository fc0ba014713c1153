/** Loaded with `--import`: limits the memory of this process to `MEMORY_BYTES`, as a container does for the code that asks for its limit. */
const bytes = Number(process.env['MEMORY_BYTES']);
process.constrainedMemory = () => bytes;
