import { chown, type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';

/** Creates a folder in DATA_DIR that only its owner can access; DATA_DIR may have to be accessible to others. */
export async function makeFolder(folder: string): Promise<void> {
  // Only this folder is closed, because the embedded database next to it may belong to another user.
  await mkdir(path.dirname(folder), { recursive: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(path.dirname(folder));
  await chown(folder, uid, gid);
}

/** Writes a file that only its owner can read, atomically and durably. */
export async function writeWhole(folder: string, name: string, bytes: Buffer): Promise<void> {
  const partial = path.join(folder, `.${name}.${process.pid}`);
  try {
    const file = await open(partial, 'w', 0o600);
    try {
      await giveToOwner(folder, file);
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, path.join(folder, name));
    await syncFolder(folder);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Under `sudo npm start` files get the owner of their folder, who may start without sudo the next time. */
export async function giveToOwner(folder: string, file: FileHandle): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  await file.chown(uid, gid);
}

/** A rename is durable once its folder has been synced. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open folders and does not need this.
  if (process.platform === 'win32') return;
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
