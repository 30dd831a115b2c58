// The doctor's checks, one function each. Inside daemon/doctor*.cpp only.
#pragma once
#include <vector>

#include "daemon/doctor.hpp"

namespace samovar::daemon {

using Checks = std::vector<Check>;

// doctor_network.cpp
void check_interfaces(const DoctorFacts& facts, Checks& out);
void check_multicast(const DoctorFacts& facts, Checks& out);
void check_neighbours(const DoctorFacts& facts, Checks& out);
void check_seeds(const DoctorFacts& facts, Checks& out);
void check_name(const DoctorFacts& facts, Checks& out);
void check_listen(const DoctorFacts& facts, Checks& out);
void check_door(const DoctorFacts& facts, Checks& out);
// doctor_members.cpp
void check_links(const DoctorFacts& facts, Checks& out);
void check_certificate(const DoctorFacts& facts, Checks& out);
void check_duplicates(const DoctorFacts& facts, Checks& out);
void check_clusters(const DoctorFacts& facts, Checks& out);
void check_versions(const DoctorFacts& facts, Checks& out);
void check_clocks(const DoctorFacts& facts, Checks& out);
void check_mtu(const DoctorFacts& facts, Checks& out);
void check_quorum(const DoctorFacts& facts, Checks& out);

// "eth0 and eth1", "a, b and c".
std::string listed(const std::vector<std::string>& items);
std::string count_of(std::size_t count, const char* one, const char* many);

}  // namespace samovar::daemon
