--  SPDX-License-Identifier: GPL-2.0-or-later
package body Mx is
   function "+" (A, B : Vec) return Vec is
   begin
      return (A.X + B.X, A.Y + B.Y);
   end "+";

   function Area (N : Integer) return Integer is
      R : Integer := 0;
   begin
      for I in 1 .. N loop
         R := (R * 2 + I) mod 1001;
      end loop;
      return R;
   end Area;

   function Area (V : Vec) return Integer is
   begin
      return Area (V.X) - V.Y;
   end Area;

   package body Inner is
      procedure Deep (N : in out Integer) is
         function Local (K : Integer) return Integer is
         begin
            return K + N;
         end Local;
      begin
         N := Local (N) + Area (N);
      end Deep;
   end Inner;
end Mx;
