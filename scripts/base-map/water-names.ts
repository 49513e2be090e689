/**
 * Names of large lakes, which the data of lakes lacks, without the word for a lake, so that they are the same in most
 * languages: name, longitude and latitude of a point in it, and the zoom from which on it is drawn.
 */
export const LAKES: readonly (readonly [name: string, lon: number, lat: number, from: number])[] = [
  ['Victoria', 33, -1, 3],
  ['Tanganyika', 29.6, -6.2, 4],
  ['Malawi', 34.5, -12, 4],
  ['Turkana', 36.1, 3.6, 5],
  ['Albert', 30.9, 1.65, 6],
  ['Edward', 29.6, -0.35, 6],
  ['Kivu', 29.1, -2.1, 6],
  ['Kyoga', 32.9, 1.45, 6],
  ['Mweru', 28.75, -9, 6],
  ['Tana', 37.3, 12, 6],
  ['Volta', 0.15, 7.5, 6],
  ['Superior', -87.5, 47.7, 3],
  ['Michigan', -87, 43.5, 4],
  ['Huron', -82.4, 44.8, 4],
  ['Erie', -81.2, 42.2, 5],
  ['Ontario', -77.8, 43.6, 5],
  ['Winnipeg', -97.85, 52.55, 4],
  ['Nicaragua', -85.4, 11.5, 6],
  ['Titicaca', -69.4, -15.8, 5],
  ['Baikal', 107.8, 53.4, 4],
  ['Balkhash', 74.2, 46.4, 5],
  ['Ladoga', 31.5, 60.9, 5],
  ['Onega', 35.4, 61.8, 5],
  ['Vänern', 13.3, 58.9, 6],
  ['Issyk-Kul', 77.3, 42.4, 6],
  ['Van', 42.9, 38.65, 6],
  ['Tonle Sap', 104.1, 12.8, 6],
];
