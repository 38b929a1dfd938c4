// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Benches of the data link layer in rtl/spacefibre. spfe_tb_pkg selects the one that runs.
module tb_sf_link;
  tb_sf_rows #(.Name("link-clean"), .Faults(1'b0), .Resets(1'b0)) i_link_clean ();
  tb_sf_rows #(.Name("link-faults"), .Resets(1'b0)) i_link_faults ();
  tb_sf_rows #(.Name("link-resets"), .Vcs(2)) i_link_resets ();
  tb_sf_rows #(.Name("link-one-vc"), .Vcs(1), .Protect(2)) i_link_one_vc ();
  tb_sf_rows #(.Name("link-3-lanes"), .Lanes(3), .Vcs(2)) i_link_3_lanes ();
  tb_sf_rows #(.Name("link-4-lanes"), .Lanes(4), .Resets(1'b0)) i_link_4_lanes ();
endmodule
