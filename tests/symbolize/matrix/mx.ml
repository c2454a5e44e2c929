(* SPDX-License-Identifier: GPL-2.0-or-later *)
module Shape = struct
  let rec area n = if n <= 0 then 1 else (n * 3 + area (n - 1)) mod 1001
  let ( ++ ) a b = area a + area b
end

let () = if Shape.(Array.length Sys.argv ++ 5) = 12345 then exit 3
