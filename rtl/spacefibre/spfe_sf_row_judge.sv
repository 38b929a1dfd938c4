// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Checks the words of a received row (ECSS-E-ST-50-11C, 5.6.4.6).
module spfe_sf_row_judge
  import spfe_sf_link_pkg::*;
  import spfe_sf_lanes_pkg::*;
#(
  /// Lanes, 2 to 16.
  parameter int unsigned Lanes = 4
) (
  /// Kind of each lane's word.
  input in_row_e [Lanes-1:0] kind_i,
  /// Lanes whose words are taken.
  input logic [Lanes-1:0] taken_i,
  /// Another lane holds an ALIGN, so these words are no row.
  input logic held_i,
  /// Alignment is NotReady.
  input logic not_ready_i,

  /// RowNone, RowRxErr, RowControl or RowData.
  output row_kind_e row_o,
  /// Lanes with data.
  output logic [Lanes-1:0] data_o,
  /// There is an RXERR among the words of a row.
  output logic rx_error_o,
  /// Both data and control words, or data after PAD.
  output logic invalid_o
);
  logic [Lanes-1:0] data, pad, error, active, align, control;
  logic only_multi, data_row, control_row, gap;

  always_comb begin
    logic seen_pad;
    seen_pad = 1'b0;
    gap = 1'b0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      data[l] = taken_i[l] && kind_i[l] == InRowData;
      pad[l] = taken_i[l] && kind_i[l] == InRowPad;
      error[l] = taken_i[l] && kind_i[l] == InRowError;
      active[l] = taken_i[l] && kind_i[l] == InRowActive;
      align[l] = taken_i[l] && kind_i[l] == InRowAlign;
      control[l] = taken_i[l] && kind_i[l] == InRowControl;
      gap |= data[l] && seen_pad;
      seen_pad |= pad[l];
    end
  end
  assign only_multi = (active | align) == taken_i;
  assign data_row = control == '0 && data != '0 && !gap;
  assign control_row = control == taken_i;
  assign data_o = data;

  always_comb begin
    row_o = RowRxErr;
    rx_error_o = 1'b0;
    invalid_o = 1'b0;
    if (held_i || not_ready_i) begin
      if (only_multi) row_o = RowNone;
    end else if (active == taken_i || align == taken_i) begin
      row_o = RowNone;
    end else if (error != '0) begin
      rx_error_o = 1'b1;
    end else if ((active | align) == '0) begin
      invalid_o = !data_row && !control_row;
      if (data_row) row_o = RowData;
      if (control_row) row_o = RowControl;
    end
  end
endmodule
