--  SPDX-License-Identifier: GPL-2.0-or-later
with Mx; use Mx;
procedure Mx_Main is
   N : Integer := 7;
   V : Vec := (1, 2);
begin
   Inner.Deep (N);
   V := V + (N, N);
   if Area (V) = 12345 then
      raise Program_Error;
   end if;
end Mx_Main;
