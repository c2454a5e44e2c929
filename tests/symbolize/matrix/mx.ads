--  SPDX-License-Identifier: GPL-2.0-or-later
package Mx is
   type Vec is record X, Y : Integer; end record;
   function "+" (A, B : Vec) return Vec;
   function Area (N : Integer) return Integer;
   function Area (V : Vec) return Integer;
   package Inner is
      procedure Deep (N : in out Integer);
   end Inner;
end Mx;
