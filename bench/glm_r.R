# The figures of tests/unit/trainer/train_r_test.cpp, printed anew: Rscript bench/glm_r.R (r-base-core, r-cran-mass).
#
# For each model of the test a line per coefficient (intercept, x1, x2, g = 1, g = 2) with estimate, standard error and
# p-value, and the dispersion. The data are made by a formula that both sides compute alike, whatever their random
# numbers: an LCG over 2^31 - 1, in whole numbers and binary fractions.

lcg <- function(n, seed) {
  state <- seed
  out <- numeric(n)
  for (i in 1:n) {
    state <- (state * 16807) %% 2147483647
    out[i] <- floor(state / 1024)
  }
  out
}

draws <- matrix(lcg(200 * 6, 42), ncol = 6, byrow = TRUE)
x1 <- (draws[, 1] %% 64) / 8
x2 <- (draws[, 2] %% 200) - 100
g <- draws[, 3] %% 3
u <- (draws[, 4] %% 1000) / 1000
e <- 1 + draws[, 5] %% 4
v <- (draws[, 6] %% 1000) / 1000

eta <- -1.5 + 0.5 * x1 - 0.01 * x2 + 0.6 * (g == 1) - 0.8 * (g == 2)
rate <- e * exp(-1 + 0.2 * x1 + 0.4 * (g == 1))
y_bin <- as.integer(u < 1 / (1 + exp(-eta)))
y_cnt <- floor(rate * (0.25 + 1.5 * u) + v)
y_nb <- floor(rate * (0.1 + 6 * u * u * u) * 1.2 + v)
y_amt <- floor(16 * exp(1 + 0.1 * x1 - 0.004 * x2) * (0.3 + 1.4 * u) * (0.5 + v)) / 16 + 0.0625

# As the product does: the most frequent level is the one that is left out.
levels <- table(g)
g <- relevel(factor(g), ref = names(levels)[which.max(levels)])

show <- function(name, fit) {
  s <- summary(fit)
  cat(name, "\n")
  cat(sprintf("  {%.10g, %.10g, %.10g},  %s\n", s$coefficients[, 1], s$coefficients[, 2], s$coefficients[, 4],
              rownames(s$coefficients)), sep = "")
  cat(sprintf("  dispersion %.10g deviance %.10g\n", s$dispersion, fit$deviance))
}

exact <- glm.control(epsilon = 1e-14, maxit = 100)
bin <- y_bin ~ x1 + x2 + g
amt <- y_amt ~ x1 + x2 + g
show("binomial", glm(bin, family = binomial, control = exact))
show("probit", glm(bin, family = binomial(link = "probit"), control = exact))
show("cloglog", glm(bin, family = binomial(link = "cloglog"), control = exact))
show("poisson", glm(y_cnt ~ x1 + x2 + g + offset(log(e)), family = poisson, control = exact))
show("gamma, log", glm(amt, family = Gamma(link = "log"), control = exact))
show("gamma, inverse", glm(amt, family = Gamma, control = exact))
show("gaussian", glm(amt, family = gaussian, control = exact))
if (requireNamespace("MASS", quietly = TRUE)) {
  fit <- MASS::glm.nb(y_nb ~ x1 + x2 + g + offset(log(e)), control = glm.control(epsilon = 1e-12, maxit = 200))
  show("negative binomial", fit)
  cat(sprintf("  theta %.10g\n", fit$theta))
}
