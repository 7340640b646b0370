SELECT
  `t0`.`person`,
  `t0`.`origin`,
  `t0`.`destination`,
  `t0`.`time`,
  CAST(`t0`.`trip` AS STRING) AS `trip`
FROM `trips` AS `t0`;
SELECT
  `t19`.`cell`,
  COUNT(*) AS `trips`
FROM (
  SELECT
    (
      CAST(CASE WHEN `t18`.`turned` < 3 THEN 0 ELSE 1 END AS INT64) * 288
    ) + `t18`.`cell` AS `cell`
  FROM (
    SELECT
      `t17`.`cell`,
      MOD(
        `t17`.`rank` + (
          MOD((
            `t17`.`total` * 11
          ) + 12, 2147483647)
        ),
        `t17`.`size`
      ) AS `turned`
    FROM (
      SELECT
        `t16`.`cell`,
        ROW_NUMBER() OVER (PARTITION BY `t16`.`person` ORDER BY `t16`.`place` ASC, `t16`.`cell` ASC) - 1 AS `rank`,
        COUNT(*) OVER (
          PARTITION BY `t16`.`person`
          ORDER BY `t16`.`place` ASC, `t16`.`cell` ASC
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS `size`,
        CAST(CAST(SUM(CAST(`t16`.`place` AS INT64)) OVER (
          PARTITION BY `t16`.`person`
          ORDER BY `t16`.`place` ASC, `t16`.`cell` ASC
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) & 1073741823 AS INT64) AS INT64) AS `total`
      FROM (
        SELECT
          *
        FROM (
          SELECT
            `t14`.`person`,
            `t14`.`trip_id`,
            `t14`.`since_us`,
            `t14`.`o`,
            `t14`.`d`,
            `t14`.`cell`,
            `t14`.`mixed`,
            `t14`.`place`,
            ROW_NUMBER() OVER (
              PARTITION BY `t14`.`person`, `t14`.`trip_id`
              ORDER BY `t14`.`place` ASC, `t14`.`cell` ASC
            ) - 1 AS `repeat`
          FROM (
            SELECT
              `t13`.`person`,
              `t13`.`trip_id`,
              `t13`.`since_us`,
              `t13`.`o`,
              `t13`.`d`,
              `t13`.`cell`,
              `t13`.`mixed`,
              MOD(
                (
                  (
                    MOD(
                      (
                        (
                          MOD(
                            (
                              (
                                MOD(
                                  (
                                    (
                                      MOD((
                                        `t13`.`mixed` * 5
                                      ) + 6, 2147483647)
                                    ) * `t13`.`mixed`
                                  ) + 7,
                                  2147483647
                                )
                              ) * `t13`.`mixed`
                            ) + 8,
                            2147483647
                          )
                        ) * `t13`.`mixed`
                      ) + 9,
                      2147483647
                    )
                  ) * `t13`.`mixed`
                ) + 10,
                2147483647
              ) AS `place`
            FROM (
              SELECT
                `t12`.`person`,
                `t12`.`trip_id`,
                `t12`.`since_us`,
                `t12`.`o`,
                `t12`.`d`,
                `t12`.`cell`,
                MOD(
                  (
                    MOD(
                      (
                        (
                          `t12`.`since_us` & 1073741823
                        ) * 1
                      ) + (
                        (
                          (
                            `t12`.`since_us` >> 30
                          ) & 2147483647
                        ) * 2
                      ),
                      2147483647
                    )
                  ) + (
                    MOD((
                      `t12`.`o` * 3
                    ) + (
                      `t12`.`d` * 4
                    ), 2147483647)
                  ),
                  2147483647
                ) AS `mixed`
              FROM (
                SELECT
                  `t11`.`person`,
                  `t11`.`trip_id`,
                  `t11`.`since_us`,
                  `t7`.`o`,
                  `t8`.`d`,
                  (
                    (
                      (
                        (
                          `t4`.`period` * 4
                        ) + `t7`.`o`
                      ) * 3
                    ) + `t8`.`d`
                  ) - IF(`t8`.`d` > `t7`.`o`, 1, 0) AS `cell`
                FROM (
                  SELECT
                    `t9`.`person`,
                    `t9`.`origin`,
                    `t9`.`destination`,
                    `t9`.`trip_id`,
                    `t9`.`us`,
                    `t9`.`us` - 1774656000000000 AS `since_us`,
                    `t9`.`us` - (
                      MOD(`t9`.`us` - 1774656000000000, 3600000000)
                    ) AS `bucket`
                  FROM (
                    SELECT
                      IF(
                        REGEXP_CONTAINS(`t1`.`person`, '[^\t\n\v\f\r\x1c\x1d\x1e\x1f <85><a0><1680><2000><2001><2002><2003><2004><2005><2006><2007><2008><2009><200a><2028><2029><202f><205f><3000>]'),
                        `t1`.`person`,
                        CAST(NULL AS STRING)
                      ) AS `person`,
                      `t1`.`origin`,
                      CAST(`t1`.`destination` AS INT64) AS `destination`,
                      IF(
                        REGEXP_CONTAINS(CAST(`t1`.`trip` AS STRING), '[^\t\n\v\f\r\x1c\x1d\x1e\x1f <85><a0><1680><2000><2001><2002><2003><2004><2005><2006><2007><2008><2009><200a><2028><2029><202f><205f><3000>]'),
                        CAST(`t1`.`trip` AS STRING),
                        CAST(NULL AS STRING)
                      ) AS `trip_id`,
                      IF(
                        (
                          `t1`.`time` >= DATETIME('2026-03-28T00:00:00')
                        )
                        AND (
                          `t1`.`time` < DATETIME('2026-03-30T00:00:00')
                        ),
                        (
                          CAST(TRUNC(CAST(UNIX_SECONDS(TIMESTAMP_TRUNC(`t1`.`time`, SECOND)) AS FLOAT64)) AS INT64) * 1000000
                        ) + CAST(TRUNC(CAST(EXTRACT(microsecond FROM `t1`.`time`) AS FLOAT64)) AS INT64),
                        CAST(NULL AS INT64)
                      ) AS `us`
                    FROM `trips` AS `t1`
                    WHERE
                      `t1`.`time` >= DATETIME('2026-03-28T00:00:00')
                      AND `t1`.`time` < DATETIME('2026-03-30T00:00:00')
                  ) AS `t9`
                  WHERE
                    `t9`.`us` >= 1774656000000000
                    AND `t9`.`us` < 1774828800000000
                    AND `t9`.`origin` <> CAST(`t9`.`destination` AS STRING)
                ) AS `t11`
                INNER JOIN `public_buckets` AS `t4`
                  ON `t11`.`bucket` = `t4`.`bucket`
                INNER JOIN (
                  SELECT
                    `t2`.`id` AS `origin`,
                    `t2`.`place` AS `o`
                  FROM `public_origin` AS `t2`
                ) AS `t7`
                  ON `t11`.`origin` = `t7`.`origin`
                INNER JOIN (
                  SELECT
                    `t3`.`id` AS `destination`,
                    `t3`.`place` AS `d`
                  FROM `public_destination` AS `t3`
                ) AS `t8`
                  ON `t11`.`destination` = `t8`.`destination`
              ) AS `t12`
              WHERE
                (
                  `t12`.`person` IS NOT NULL
                ) AND (
                  `t12`.`trip_id` IS NOT NULL
                )
            ) AS `t13`
          ) AS `t14`
        ) AS `t15`
        WHERE
          `t15`.`repeat` = 0
      ) AS `t16`
    ) AS `t17`
  ) AS `t18`
  WHERE
    `t18`.`turned` < 4
) AS `t19`
GROUP BY
  1;
