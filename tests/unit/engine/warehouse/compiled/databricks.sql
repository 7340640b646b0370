SELECT
  `t0`.`person`,
  `t0`.`origin`,
  `t0`.`destination`,
  `t0`.`time`,
  CAST(`t0`.`trip` AS STRING) AS `trip`
FROM `trips` AS `t0`;
