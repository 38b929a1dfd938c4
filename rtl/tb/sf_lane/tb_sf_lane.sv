// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Benches of the lane layer in rtl/spacefibre. spfe_tb_pkg selects the one that runs.
module tb_sf_lane;
  tb_sf_code #(.Name("sf-code")) i_sf_code ();
  tb_sf_elastic #(.Name("sf-elastic")) i_sf_elastic ();
  tb_sf_pair #(.Name("lane-words")) i_lane_words ();
  tb_sf_pair #(.Name("lane-bits"), .Coded(1'b1)) i_lane_bits ();
  tb_sf_pair #(.Name("lane-swapped"), .Coded(1'b1), .Swapped(1'b1)) i_lane_swapped ();
  tb_sf_pair #(.Name("lane-errors"), .Coded(1'b1), .Errors(1'b1)) i_lane_errors ();
endmodule
