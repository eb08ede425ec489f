// Time Pinocchio's C++ functions, one loop over all states at a time.
//
// native_peer MODEL STATES: a model by saveToText; states as doubles: their number, then of each
// q (nq), v (nv) and x (nv), an acceleration or torque.
// Reads names of functions from the standard input. Answers `time NAME` with the seconds of a loop,
// `show NAME` with the result at the last state, row by row.

#include <chrono>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/serialization.hpp>

struct State
{
  Eigen::VectorXd q, v, x;
};

std::vector<State> read_states(const char * path, int nq, int nv)
{
  std::ifstream file(path, std::ios::binary);
  const auto numbers = [&file](int n) {
    Eigen::VectorXd read(n);
    file.read(reinterpret_cast<char *>(read.data()), n * sizeof(double));
    return read;
  };
  std::vector<State> states(static_cast<std::size_t>(numbers(1)[0]));
  for (State & state : states)
  {
    state.q = numbers(nq);
    state.v = numbers(nv);
    state.x = numbers(nv);
  }
  if (!file)
  {
    std::cerr << "native_peer: " << path << " has too few numbers" << std::endl;
    std::exit(1);
  }
  return states;
}

int main(int count, char ** arguments)
{
  if (count != 3)
  {
    std::cerr << "usage: native_peer MODEL STATES" << std::endl;
    return 1;
  }
  pinocchio::Model model;
  pinocchio::serialization::loadFromText(model, arguments[1]);
  pinocchio::Data data(model);
  const std::vector<State> states = read_states(arguments[2], model.nq, model.nv);

  struct Function
  {
    std::function<void()> loop;                            // over all states
    std::function<std::vector<Eigen::MatrixXd>()> result;  // of the last call
  };
  // The loop is a lambda with the call inside, so that nothing but the call is repeated.
  const auto over_states = [&](auto call) {
    return [&states, call] {
      for (const State & state : states)
        call(state);
    };
  };
  std::map<std::string, Function> functions;
  functions["inverse_dynamics"] = {
    over_states([&](const State & s) { pinocchio::rnea(model, data, s.q, s.v, s.x); }),
    [&] { return std::vector<Eigen::MatrixXd>{data.tau}; }};
  functions["forward_dynamics"] = {
    over_states([&](const State & s) {
      pinocchio::aba(model, data, s.q, s.v, s.x, pinocchio::Convention::WORLD);
    }),
    [&] { return std::vector<Eigen::MatrixXd>{data.ddq}; }};
  functions["mass_matrix"] = {  // the faster convention: 1.6 times for arms, the same for TALOS
    over_states([&](const State & s) {
      pinocchio::crba(model, data, s.q, pinocchio::Convention::LOCAL);
    }),
    [&] {
      return std::vector<Eigen::MatrixXd>{
        Eigen::MatrixXd(data.M.selfadjointView<Eigen::Upper>())};
    }};
  functions["inverse_dynamics_derivatives"] = {
    over_states([&](const State & s) {
      pinocchio::computeRNEADerivatives(model, data, s.q, s.v, s.x);
    }),
    [&] { return std::vector<Eigen::MatrixXd>{data.dtau_dq, data.dtau_dv}; }};
  functions["forward_dynamics_derivatives"] = {
    over_states([&](const State & s) {
      pinocchio::computeABADerivatives(model, data, s.q, s.v, s.x);
    }),
    [&] { return std::vector<Eigen::MatrixXd>{data.ddq_dq, data.ddq_dv}; }};

  std::cout << std::setprecision(17);
  std::string what, name;
  while (std::cin >> what >> name)
  {
    const auto found = functions.find(name);
    if (found == functions.end())
    {
      std::cerr << "native_peer: no function " << name << std::endl;
      return 1;
    }
    found->second.loop();  // not timed: the process has been asleep, its caches are cold
    const auto start = std::chrono::steady_clock::now();
    found->second.loop();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (what == "time")
      std::cout << seconds.count();
    else
      for (const Eigen::MatrixXd & matrix : found->second.result())
        for (Eigen::Index row = 0; row < matrix.rows(); ++row)
          for (Eigen::Index column = 0; column < matrix.cols(); ++column)
            std::cout << matrix(row, column) << ' ';
    std::cout << std::endl;
  }
}
