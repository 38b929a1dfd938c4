// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types of spfe_host_lines.
package spfe_host_lines_pkg;
  import spfe_host_pkg::*;

  /// Of spfe_host_lines.
  typedef struct packed {
    logic [15:0] domain;
    logic [15:0] vector;
    address_t lines;
  } line_settings_t;

  /// Of spfe_host_lines.
  typedef struct packed {
    logic [31:0] wakes;  // wake_seq
    logic [31:0] answered;  // arming that was answered
    logic [31:0] timed;  // arming that has the following time
    logic [63:0] first;  // when its first completion was seen
    logic [31:0] after;  // ns from there
  } arming_t;

  /// Of spfe_host_lines.
  typedef struct packed {
    logic [31:0] position;
    logic [63:0] bytes;
  } total_t;

  /// Of spfe_host_lines.
  typedef enum logic [3:0] {
    Rest,
    Choose,
    AskArm,
    Arm,
    AskWant,
    Want,
    Total,
    Judge,
    AskWrite,
    Write,
    Written,
    Signal
  } line_e;

  /// Of spfe_host_lines.
  typedef enum logic [2:0] {
    JobStart,
    JobFailed,
    JobNeed,
    JobFull,
    JobWake,
    JobLook
  } line_job_e;
endpackage
