/** The address of a stored file. */
export const addressOfFile = (id: string) => `/packet/attachments/${id}`;

/** Whether browsers show a file of this media type as a picture. */
export const isPicture = (type: string | undefined) => /^image\/(jpeg|png|webp|gif|avif)$/.test(type ?? '');
