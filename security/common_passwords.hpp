// Words that people who guess try first, in several languages, and rows of keys.
#pragma once
#include <array>
#include <string_view>

namespace samovar::security {

inline constexpr std::string_view kCommonWords[] = {
    // Passwords about passwords.
    "password", "passwords", "passwort", "passw", "passphrase", "passcode", "pass", "kennwort", "motdepasse",
    "contrasena", "contraseña", "wachtwoord", "parola", "heslo", "haslo", "lozinka", "salasana", "senha",
    "пароль", "parol", "letmein", "letmeinnow", "openup", "opensesame", "trustno", "changeme", "changeit",
    "changethis", "default", "secret", "secrets", "topsecret", "geheim", "temporary", "temp", "login",
    "logon", "signin", "access", "unlock", "security", "secure", "private", "please", "remember", "forgot",
    "nopassword", "mypassword", "thisismypassword", "yourpassword", "newpassword", "testpassword",
    "correcthorsebatterystaple",
    // Roles and places.
    "admin", "administrator", "administrateur", "root", "superuser", "system", "sysadmin", "manager",
    "master", "operator", "service", "support", "guest", "user", "username", "tester", "testing", "test",
    "demo", "example", "sample", "office", "company", "server", "database", "cluster", "network", "internet",
    "computer", "laptop", "samovar", "jetson", "nvidia", "raspberry", "ubuntu", "debian", "linux", "windows",
    "microsoft", "google", "facebook", "hospital", "clinic", "bank", "laboratory",
    // Greetings and feelings.
    "welcome", "willkommen", "bienvenue", "bienvenido", "benvenuto", "hello", "helloworld", "hallo",
    "bonjour", "hola", "ciao", "privet", "привет", "goodmorning", "iloveyou", "iloveu", "loveyou", "lovely",
    "lover", "love", "liebe", "schatz", "jetaime", "teamo", "ichliebedich", "forever", "friends", "freedom",
    "happy", "lucky", "whatever", "nothing", "princess", "prinzessin", "sweetheart", "beautiful", "sunshine",
    "blessed", "jesus", "heaven", "angel", "babygirl", "fuckyou", "fuckoff", "asshole", "bitch",
    // Creatures, heroes, games.
    "dragon", "monkey", "tiger", "lion", "eagle", "falcon", "wolf", "phoenix", "unicorn", "butterfly",
    "kitty", "puppy", "cheese", "banana", "cookie", "chocolate", "pepper", "ginger", "starwars", "startrek",
    "superman", "batman", "spiderman", "pokemon", "pikachu", "naruto", "minecraft", "matrix", "killer",
    "shadow", "hunter", "ranger", "ninja", "pirate", "wizard", "magic", "merlin", "gandalf", "mustang",
    "ferrari", "porsche", "mercedes", "corvette", "harley", "yamaha", "football", "fussball", "baseball",
    "basketball", "soccer", "hockey", "arsenal", "chelsea", "liverpool", "barcelona", "juventus",
    "realmadrid", "bayern", "yankees", "cowboys", "lakers", "steelers", "metallica", "nirvana", "guitar",
    // Names, seasons, months, days, places.
    "michael", "jennifer", "jessica", "daniel", "thomas", "andrew", "joshua", "charlie", "robert", "george",
    "jordan", "michelle", "nicole", "ashley", "anthony", "alexander", "maria", "spring", "summer", "autumn",
    "winter", "sommer", "herbst", "january", "february", "march", "april", "august", "september", "october",
    "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    "london", "paris", "berlin", "newyork", "texas", "america", "england", "germany", "deutschland", "france",
    // Rows of keys that are not straight.
    "azerty", "qwertz", "йцукен", "zaqxsw", "qazwsx", "wsxedc", "asdf", "zxcv", "qwer", "asd", "abc", "qwe"};

// Straight runs, read forwards and backwards, three keys or more.
inline constexpr std::string_view kKeyRuns[] = {
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
    "0123456789012345678901234567890",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "azertyuiopqsdfghjklmwxcvbn",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
    "1q2w3e4r5t6y7u8i9o0p",
    "qawsedrftgyhujikolp",
    "!@#$%^&*()",
    "!\"§$%&/()=",
};

}  // namespace samovar::security
