SELECT
  "t0"."person" AS "person",
  "t0"."origin" AS "origin",
  "t0"."destination" AS "destination",
  "t0"."time" AS "time",
  CAST("t0"."trip" AS Nullable(String)) AS "trip"
FROM "trips" AS "t0";
SELECT
  "t19"."cell" AS "cell",
  COUNT(*) AS "trips"
FROM (
  SELECT
    (
      CAST(CASE WHEN "t18"."turned" < 3 THEN 0 ELSE 1 END AS Nullable(Int64)) * 288
    ) + "t18"."cell" AS "cell"
  FROM (
    SELECT
      "t17"."cell" AS "cell",
      (
        "t17"."rank" + (
          (
            (
              "t17"."total" * 11
            ) + 12
          ) % 2147483647
        )
      ) % "t17"."size" AS "turned"
    FROM (
      SELECT
        "t16"."cell" AS "cell",
        ROW_NUMBER() OVER (
          PARTITION BY "t16"."person"
          ORDER BY "t16"."place" ASC, "t16"."cell" ASC
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) - 1 AS "rank",
        COUNT(*) OVER (
          PARTITION BY "t16"."person"
          ORDER BY "t16"."place" ASC, "t16"."cell" ASC
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS "size",
        CAST(CAST(bitAnd(
          SUM(CAST("t16"."place" AS Nullable(Int32))) OVER (
            PARTITION BY "t16"."person"
            ORDER BY "t16"."place" ASC, "t16"."cell" ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
          ),
          1073741823
        ) AS Nullable(Int32)) AS Nullable(Int64)) AS "total"
      FROM (
        SELECT
          *
        FROM (
          SELECT
            "t14"."person" AS "person",
            "t14"."trip_id" AS "trip_id",
            "t14"."since_us" AS "since_us",
            "t14"."o" AS "o",
            "t14"."d" AS "d",
            "t14"."cell" AS "cell",
            "t14"."mixed" AS "mixed",
            "t14"."place" AS "place",
            ROW_NUMBER() OVER (
              PARTITION BY "t14"."person", "t14"."trip_id"
              ORDER BY "t14"."place" ASC, "t14"."cell" ASC
              ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
            ) - 1 AS "repeat"
          FROM (
            SELECT
              "t13"."person" AS "person",
              "t13"."trip_id" AS "trip_id",
              "t13"."since_us" AS "since_us",
              "t13"."o" AS "o",
              "t13"."d" AS "d",
              "t13"."cell" AS "cell",
              "t13"."mixed" AS "mixed",
              (
                (
                  (
                    (
                      (
                        (
                          (
                            (
                              (
                                (
                                  (
                                    (
                                      (
                                        (
                                          "t13"."mixed" * 5
                                        ) + 6
                                      ) % 2147483647
                                    ) * "t13"."mixed"
                                  ) + 7
                                ) % 2147483647
                              ) * "t13"."mixed"
                            ) + 8
                          ) % 2147483647
                        ) * "t13"."mixed"
                      ) + 9
                    ) % 2147483647
                  ) * "t13"."mixed"
                ) + 10
              ) % 2147483647 AS "place"
            FROM (
              SELECT
                "t12"."person" AS "person",
                "t12"."trip_id" AS "trip_id",
                "t12"."since_us" AS "since_us",
                "t12"."o" AS "o",
                "t12"."d" AS "d",
                "t12"."cell" AS "cell",
                (
                  (
                    (
                      (
                        bitAnd("t12"."since_us", 1073741823) * 1
                      ) + (
                        bitAnd(
                          bitShiftRight(CAST("t12"."since_us" AS Nullable(Int64)), CAST(30 AS Nullable(Int64))),
                          2147483647
                        ) * 2
                      )
                    ) % 2147483647
                  ) + (
                    (
                      (
                        "t12"."o" * 3
                      ) + (
                        "t12"."d" * 4
                      )
                    ) % 2147483647
                  )
                ) % 2147483647 AS "mixed"
              FROM (
                SELECT
                  "t11"."person" AS "person",
                  "t11"."trip_id" AS "trip_id",
                  "t11"."since_us" AS "since_us",
                  "t7"."o" AS "o",
                  "t8"."d" AS "d",
                  (
                    (
                      (
                        (
                          "t4"."period" * 4
                        ) + "t7"."o"
                      ) * 3
                    ) + "t8"."d"
                  ) - CASE WHEN "t8"."d" > "t7"."o" THEN 1 ELSE 0 END AS "cell"
                FROM (
                  SELECT
                    "t9"."person" AS "person",
                    "t9"."origin" AS "origin",
                    "t9"."destination" AS "destination",
                    "t9"."trip_id" AS "trip_id",
                    "t9"."us" AS "us",
                    "t9"."us" - 1774656000000000 AS "since_us",
                    "t9"."us" - (
                      (
                        "t9"."us" - 1774656000000000
                      ) % 3600000000
                    ) AS "bucket"
                  FROM (
                    SELECT
                      CASE
                        WHEN match("t1"."person", '[^\t\n\v\f\r\x1c\x1d\x1e\x1f <85><a0><1680><2000><2001><2002><2003><2004><2005><2006><2007><2008><2009><200a><2028><2029><202f><205f><3000>]')
                        THEN "t1"."person"
                        ELSE CAST(NULL AS Nullable(String))
                      END AS "person",
                      "t1"."origin" AS "origin",
                      CAST("t1"."destination" AS Nullable(Int64)) AS "destination",
                      CASE
                        WHEN match(
                          CAST("t1"."trip" AS Nullable(String)),
                          '[^\t\n\v\f\r\x1c\x1d\x1e\x1f <85><a0><1680><2000><2001><2002><2003><2004><2005><2006><2007><2008><2009><200a><2028><2029><202f><205f><3000>]'
                        )
                        THEN CAST("t1"."trip" AS Nullable(String))
                        ELSE CAST(NULL AS Nullable(String))
                      END AS "trip_id",
                      CASE
                        WHEN (
                          "t1"."time" >= parseDateTimeBestEffort('2026-03-28T00:00:00')
                        )
                        AND (
                          "t1"."time" < parseDateTimeBestEffort('2026-03-30T00:00:00')
                        )
                        THEN (
                          CAST(CAST(toRelativeSecondNum(dateTrunc('SECOND', toDateTime64("t1"."time", 6))) AS Nullable(Float64)) AS Nullable(Int64)) * 1000000
                        ) + CAST(CAST(CAST(toUnixTimestamp64Micro(CAST("t1"."time" AS Nullable(DateTime64(6)))) % 1000000 AS Nullable(Int32)) AS Nullable(Float64)) AS Nullable(Int64))
                        ELSE CAST(NULL AS Nullable(Int64))
                      END AS "us"
                    FROM "trips" AS "t1"
                    WHERE
                      "t1"."time" >= parseDateTimeBestEffort('2026-03-28T00:00:00')
                      AND "t1"."time" < parseDateTimeBestEffort('2026-03-30T00:00:00')
                  ) AS "t9"
                  WHERE
                    "t9"."us" >= 1774656000000000
                    AND "t9"."us" < 1774828800000000
                    AND "t9"."origin" <> CAST("t9"."destination" AS Nullable(String))
                ) AS "t11"
                INNER JOIN "public_buckets" AS "t4"
                  ON "t11"."bucket" = "t4"."bucket"
                INNER JOIN (
                  SELECT
                    "t2"."id" AS "origin",
                    "t2"."place" AS "o"
                  FROM "public_origin" AS "t2"
                ) AS "t7"
                  ON "t11"."origin" = "t7"."origin"
                INNER JOIN (
                  SELECT
                    "t3"."id" AS "destination",
                    "t3"."place" AS "d"
                  FROM "public_destination" AS "t3"
                ) AS "t8"
                  ON "t11"."destination" = "t8"."destination"
              ) AS "t12"
              WHERE
                isNotNull("t12"."person") AND isNotNull("t12"."trip_id")
            ) AS "t13"
          ) AS "t14"
        ) AS "t15"
        WHERE
          "t15"."repeat" = 0
      ) AS "t16"
    ) AS "t17"
  ) AS "t18"
  WHERE
    "t18"."turned" < 4
) AS "t19"
GROUP BY
  "t19"."cell";
