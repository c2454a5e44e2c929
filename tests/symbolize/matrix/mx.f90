! SPDX-License-Identifier: GPL-2.0-or-later
module mx
contains
  recursive integer function area(n) result(r)
    integer, intent(in) :: n
    if (n <= 0) then
      r = 1
    else
      r = mod(side(n) * 3 + area(n - 1), 1001)
    end if
  contains
    integer function side(k)
      integer, intent(in) :: k
      side = k * 2 + 1
    end function
  end function
end module
program mx_main
  use mx
  print *, area(command_argument_count() + 5)
end program
