using System.Diagnostics;
using System.Text.RegularExpressions;
using Cairn.Cli.Serving;

namespace Cairn.Cli.Tests.Serving;

/// <summary>The server's settings, read from options, variables and a file. Cairn.Server.Tests covers the server itself.</summary>
public sealed partial class ServeTests : ToolTest
{
    [Fact]
    public void Configuration_is_checked_without_opening_anything()
    {
        ToolRun run = Run("serve", "--check", "--json");

        Assert.Equal((ExitCode.Done, ""), (run.Code, run.Error));
        Assert.Equal(StorePath, run.Json.GetProperty("store").GetString());
        Assert.Equal("127.0.0.1:11211", run.Json.GetProperty("memcached").GetString());
        Assert.Equal("127.0.0.1:6379", run.Json.GetProperty("resp").GetString());
        Assert.Equal(System.Text.Json.JsonValueKind.Null, run.Json.GetProperty("both").ValueKind);
        Assert.Equal("127.0.0.1:8080", run.Json.GetProperty("http").GetString());
        Assert.False(File.Exists(StorePath));
    }

    [Fact]
    public void Option_comes_before_the_variable_and_that_before_the_file()
    {
        string file = WriteConfig("""{"memcached": "127.0.0.1:1", "resp": "127.0.0.1:2", "both": "127.0.0.1:3"} // trailing""");
        TestConsole console = NewConsole();
        console.Environment["CAIRN_RESP"] = "127.0.0.1:20";
        console.Environment["CAIRN_BOTH"] = "127.0.0.1:30";

        ToolRun run = Run(console, "serve", "--check", "--json", "--config", file, "--both", "off");

        Assert.Equal("127.0.0.1:1", run.Json.GetProperty("memcached").GetString());
        Assert.Equal("127.0.0.1:20", run.Json.GetProperty("resp").GetString());
        Assert.Equal(System.Text.Json.JsonValueKind.Null, run.Json.GetProperty("both").ValueKind);
    }

    [Fact]
    public void Variable_with_a_name_like_a_known_one_is_reported_and_another_one_is_ignored()
    {
        TestConsole console = NewConsole();
        console.Environment["CAIRN_RESP_PASSWRD"] = "secret";
        console.Environment["CAIRN_PORT_6379_TCP_ADDR"] = "10.0.0.1";
        console.Environment["CAIRN_CAPACITY"] = "64MiB";

        ToolRun run = Run(console, "serve", "--check");

        Assert.Equal(
            "cairn: warning: the environment variable CAIRN_RESP_PASSWRD means nothing to the server, but CAIRN_RESP_PASSWORD does\n", run.Error);
    }

    [Theory]
    [InlineData("--log-file")]
    [InlineData("--pid-file")]
    public void File_whose_directory_is_missing_is_reported_before_any_client_can_connect(string option)
    {
        string path = Path.Combine(StorePath + ".missing", "file");

        ToolRun run = Run("serve", "--memcached", "127.0.0.1:0", "--resp", "off", "--http", "off", option, path);

        Assert.Equal((ExitCode.File, $"cairn: the directory of {option} '{path}' does not exist; create it first, or correct the path\n"), (run.Code, run.Error));
        Assert.False(File.Exists(StorePath));
    }

    [Theory]
    [InlineData("--resp")]
    [InlineData("--http")]
    public void Unknown_name_is_reported_as_such(string option)
    {
        ToolRun run = Run("serve", "--check", option, "nowhere.invalid");

        Assert.Equal(ExitCode.Server, run.Code);
        Assert.StartsWith("cairn: The name 'nowhere.invalid' is not known: ", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Store_whose_directory_is_missing_is_an_error_of_the_store()
    {
        string path = Path.Combine(StorePath + ".missing", "books.cairn");

        ToolRun run = Run("serve", "--store", path, "--memcached", "127.0.0.1:0", "--resp", "off", "--http", "off");

        Assert.Equal(ExitCode.Store, run.Code);
        Assert.EndsWith(
            $"cairn: The store '{path}' cannot be created because its directory does not exist. Create the directory first, or correct the path.\n",
            run.Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("127.0.0.1:11222", "-p", "11222")]
    [InlineData("127.0.0.2:11211", "-l", "127.0.0.2")]
    [InlineData("127.0.0.2:11222", "-l", "127.0.0.2", "-p", "11222")]
    [InlineData("127.0.0.2:3", "-l", "127.0.0.2:3")]
    [InlineData("[::1]:11222", "-l", "::1", "-p", "11222")]
    [InlineData("[::1]:3", "-l", "[::1]:3")]
    [InlineData("127.0.0.2:5,[::1]:11222,127.0.0.3:11222", "-l", "127.0.0.2:5, ::1, 127.0.0.3", "-p", "11222")]
    [InlineData("unix:/run/m.sock", "-s", "/run/m.sock", "-p", "11222")]
    [InlineData(null, "-p", "0")]
    public void Flags_of_memcached_say_where_its_protocol_is_spoken(string? address, params string[] flags)
    {
        ToolRun run = Run(["serve", "--check", "--json", "--memcached", "127.0.0.9:9", .. flags]);

        Assert.Equal(address, run.Json.GetProperty("memcached").GetString());
    }

    [Fact]
    public void Flags_that_scripts_around_memcached_pass_are_understood()
    {
        ToolRun run = Run(
            "serve", "--check", "-m", "64", "-c", "1024", "-t", "4", "-I", "2m", "-U", "0", "-u", "memcache", "-M", "-F", "-A", "-v", "-o", "idle_timeout=60,modern");

        Assert.Equal(ExitCode.Done, run.Code);
        Assert.Equal(
            $"cairn: warning: accepted for memcached's sake, without an effect: -o modern, -u (the server remains {Environment.UserName}; start it as memcache, as service managers do with User=)\n",
            run.Error);
    }

    [Theory]
    [InlineData("-m64", "-p11222", "-vv", "-kr")]
    [InlineData("-kdm64", "-p", "11222")]
    [InlineData("--memory-limit=64", "--port=11222", "--listen=127.0.0.1", "--conn-limit=100", "--threads=2")]
    [InlineData("-vvv", "-Cm", "64", "-MX", "-Wp11222")]
    public void Letters_are_split_as_getopt_does(params string[] flags)
    {
        ToolRun run = Run(["serve", "--check", "--json", .. flags]);

        Assert.Equal(ExitCode.Done, run.Code);
        Assert.StartsWith("{\"store\"", run.Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("-m64 -p 5", "-m=64 -p=5")]
    [InlineData("-kdm64", "-k -d -m=64")]
    [InlineData("-vvv", "-v")]
    [InlineData("-p -1 -D -", "-p=-1 -D=-")]
    [InlineData("-o idle_timeout=3,modern", "-o=idle_timeout=3,modern")]
    [InlineData("-xyz --memory-limit=64 -m", "-xyz --memory-limit=64 -m")]
    [InlineData("-k -- -kd", "-k -- -kd")]
    public void Words_with_several_letters_become_several_words(string words, string split) =>
        Assert.Equal(split.Split(' '), MemcachedFlags.Split(words.Split(' ')));

    [RequiresToolFact("memcached")]
    public void Every_option_in_the_help_of_memcached_is_taken()
    {
        string help = ProcessOutput("memcached", "-h");
        string file = WriteConfig("user:password");
        var values = new Dictionary<string, string>(StringComparer.Ordinal)
        {
            ["-p"] = "11222", ["-U"] = "11222", ["-s"] = PathOf("m.sock"), ["-a"] = "700", ["-l"] = "127.0.0.1", ["-u"] = "memcache", ["-m"] = "64", ["-c"] = "100",
            ["-P"] = PathOf("m.pid"), ["-f"] = "1.5", ["-n"] = "48", ["-D"] = "/", ["-t"] = "2", ["-R"] = "20", ["-b"] = "100", ["-B"] = "auto", ["-I"] = "2m", ["-Y"] = file,
            ["-e"] = PathOf("m.cairn"), ["-o"] = "modern", ["-N"] = "1",
        };
        List<string> tried = [];

        foreach (Match option in MemcachedOption().Matches(help))
        {
            string letter = option.Groups["letter"].Value;
            if (letter is "-h" or "-Z" or "-S")
            {
                continue; // They need others, or end the run. Other tests cover them.
            }

            foreach (string name in option.Groups["long"].Success ? [letter, option.Groups["long"].Value] : (string[])[letter])
            {
                string[] words = !values.TryGetValue(letter, out string? value) ? [name] : name.Length == 2 ? [name + value] : [$"{name}={value}"];
                ToolRun run = Run(["serve", "--check", .. words]);
                Assert.True(run.Code == ExitCode.Done, $"{name}: {run.Error}");
                tried.Add(name);
            }
        }

        foreach (Match suboption in MemcachedSuboption().Matches(help))
        {
            string name = suboption.Groups["name"].Value;
            string value = name switch
            {
                "hash_algorithm" => "=murmur3",
                "ssl_chain_cert" or "ssl_key" or "ssl_ca_cert" => $"={file}",
                _ => "=1",
            };
            ToolRun run = Run("serve", "--check", "-o", name + value);
            Assert.True(run.Code == ExitCode.Done, $"-o {name}{value}: {run.Error}");
            tried.Add(name);
        }

        Assert.InRange(tried.Count, 90, 200);
    }

    [Fact]
    public void Sasl_needs_users_and_the_binary_protocol()
    {
        TestConsole console = NewConsole();

        Assert.Contains("-S needs users", Run(console, "serve", "--check", "-S").Error, StringComparison.Ordinal);
        console = NewConsole();
        console.Environment["MEMCACHED_SASL_PWDB"] = WriteConfig("user:password");
        Assert.Equal(ExitCode.Done, Run(console, "serve", "--check", "-S").Code);
        Assert.Contains(
            "-S needs the binary protocol, and -B allows only ascii",
            Run("serve", "--check", "-S", "-B", "ascii", "-Y", WriteConfig("user:password")).Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("-I", "1000", "--max-value (-I) takes")]
    [InlineData("-B", "http", "--memcached-protocol (-B) takes auto, ascii or binary, not 'http'")]
    [InlineData("-c", "-1", "takes a number from 1 to 1000000, not '-1'")]
    [InlineData("-f", "1", "-f takes a number above 1, not '1'")]
    [InlineData("-n", "0", "-n takes a number from 1, not '0'")]
    [InlineData("-D", "ab", "--prefix-delimiter (-D) takes one ASCII character, not 'ab'")]
    [InlineData("-o", "unknown", "-o has no suboption 'unknown' in memcached 1.6")]
    [InlineData("-o", "proxy_config=x", "this server is no proxy")]
    [InlineData("-o", "hash_algorithm=md5", "takes jenkins, murmur3 or xxh3, not 'md5'")]
    [InlineData("-o", "ssl_verify_mode=4", "takes 0, 1, 2 or 3, not '4'")]
    [InlineData("--memcached-version", "1.6", "takes three numbers, such as 1.6.18, not '1.6'")]
    [InlineData("-m", "much", "-m takes a number from 1 to 1048576, not 'much'")]
    [InlineData("-o", "idle_timeout=long", "takes a number, not 'long'")]
    public void Flag_of_memcached_that_cannot_be_honoured_is_an_error(string flag, string value, string message)
    {
        ToolRun run = Run("serve", "--check", flag, value);

        Assert.Equal(ExitCode.Usage, run.Code);
        Assert.Contains(message, run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Store_may_be_named_in_the_file()
    {
        TestConsole console = NewConsole();
        console.Environment.Remove("CAIRN_STORE");

        ToolRun run = Run(console, "serve", "--check", "--json", "--config", WriteConfig("""{"store": "/srv/books.cairn"}"""));

        Assert.Equal("/srv/books.cairn", run.Json.GetProperty("store").GetString());
    }

    [Theory]
    [InlineData("--max-connections", "many", "--max-connections (-c) takes a number from 1 to 1000000, not 'many'")]
    [InlineData("--idle-timeout", "5", "--idle-timeout takes a number with ms, s, m, h, d or w")]
    [InlineData("--io", "kqueue", "--io takes auto, uring, epoll or sockets, not 'kqueue'")]
    [InlineData("--unix-mode", "rw", "--unix-mode (-a) takes permissions in the form of chmod, such as 660, not 'rw'")]
    [InlineData("--slow", "soon", "--slow takes a number with ms, s, m, h, d or w, such as 90s, 5m, 1h30m or 2d, or off, not 'soon'")]
    [InlineData("--otlp", "collector", "--otlp takes a URL such as http://127.0.0.1:4318, not 'collector'")]
    [InlineData("--insecure", "perhaps", "--insecure takes on or off, not 'perhaps'")]
    public void Setting_of_another_form_is_an_error_that_names_the_form(string option, string text, string message)
    {
        ToolRun run = Run("serve", "--check", $"{option}={text}");

        Assert.Equal(ExitCode.Usage, run.Code);
        Assert.Contains(message, run.Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("""{"memcache": "off"}""", "there is no setting \"memcache\". Known are store, ephemeral")]
    [InlineData("""{"threads": "1", "threads": 2}""", "\"threads\" is there twice")]
    [InlineData("""{"threads": [1]}""", "\"threads\" must be a text, a number, true or false")]
    [InlineData("""{"threads": -1}""", "takes a number from 1 to 1024, not '-1'")]
    [InlineData("""["threads"]""", "it must be one JSON object")]
    [InlineData("""{"store": "\ud800"}""", "half of a surrogate pair")]
    [InlineData("""{"\ud800": "off"}""", "half of a surrogate pair")]
    [InlineData("{\n\"threads\": oops}", "it is not JSON: line 2")]
    public void Mistake_in_the_file_is_an_error_that_names_it(string json, string message)
    {
        string file = WriteConfig(json);

        ToolRun run = Run("serve", "--check", "--config", file);

        Assert.Equal(ExitCode.Usage, run.Code);
        Assert.Contains(message, run.Error, StringComparison.Ordinal);
        Assert.Contains(file, run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Missing_configuration_is_an_error_of_a_file()
    {
        ToolRun run = Run("serve", "--check", "--config", PathOf("nowhere.json"));

        Assert.Equal(ExitCode.File, run.Code);
        Assert.Contains("cannot be read", run.Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("0.0.0.0:0")]
    [InlineData("*:11211")]
    [InlineData("[::]:11211")]
    public void Address_that_strangers_reach_is_refused_unless_it_is_meant_so(string address)
    {
        ToolRun refused = Run("serve", "--check", "--memcached", address);
        ToolRun meant = Run("serve", "--check", "--memcached", address, "--insecure");

        Assert.Equal(ExitCode.Server, refused.Code);
        Assert.Contains("would let every program that reaches this machine read and change the cache", refused.Error, StringComparison.Ordinal);
        Assert.Equal(ExitCode.Done, meant.Code);
    }

    [Fact]
    public void Figures_are_shown_to_this_machine_only_unless_it_is_meant_otherwise()
    {
        ToolRun refused = Run("serve", "--check", "--http", "*:8080");
        ToolRun meant = Run("serve", "--check", "--http", "*:8080", "--insecure");

        Assert.Equal(ExitCode.Server, refused.Code);
        Assert.Contains("would send figures, keys, values and passwords unprotected over the network", refused.Error, StringComparison.Ordinal);
        Assert.Equal(ExitCode.Done, meant.Code);
    }

    [Fact]
    public void Unix_socket_is_accessible_for_its_owner_only() =>
        Assert.Equal(ExitCode.Done, Run("serve", "--check", "--memcached", "unix:/run/cairn.sock", "--resp", "off").Code);

    [Theory]
    [InlineData("nowhere:port", "is no address for memcached")]
    [InlineData("127.0.0.1:70000", "is no address for memcached")]
    public void Address_that_is_none_is_an_error(string address, string message)
    {
        ToolRun run = Run("serve", "--check", "--memcached", address);

        Assert.Equal(ExitCode.Server, run.Code);
        Assert.Contains(message, run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Server_that_would_serve_nothing_is_an_error()
    {
        ToolRun run = Run("serve", "--check", "--memcached", "off", "--resp", "off");

        Assert.Equal(ExitCode.Server, run.Code);
        Assert.Contains("Nothing would be served", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Tls_without_a_certificate_is_an_error()
    {
        ToolRun run = Run("serve", "--check", "--tls-key", "key.pem");

        Assert.Equal(ExitCode.Server, run.Code);
        Assert.Contains("TLS needs a certificate", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Certificate_that_cannot_be_used_is_an_error()
    {
        ToolRun run = Run("serve", "--check", "--tls-certificate", PathOf("nowhere.pem"));

        Assert.Equal(ExitCode.Server, run.Code);
        Assert.Contains("nowhere.pem", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Mistake_in_the_file_of_users_is_an_error_that_names_the_line()
    {
        string file = PathOf("users");
        File.WriteAllText(file, "# Readers\nreader secret read-only\n");

        ToolRun run = Run("serve", "--check", "--resp-users", file);

        Assert.Equal(ExitCode.Server, run.Code);
        Assert.Contains("line 2", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Password_and_users_together_are_an_error()
    {
        ToolRun run = Run("serve", "--check", "--resp-users", PathOf("users"), "--resp-password", "secret");

        Assert.Equal(ExitCode.Server, run.Code);
        Assert.Contains("not both", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Store_that_keeps_nothing_has_no_file()
    {
        ToolRun run = Run("serve", "--check", "--ephemeral");

        Assert.Equal(ExitCode.Server, run.Code);
        Assert.Contains("leave out either the file or --ephemeral", run.Error, StringComparison.Ordinal);
    }

    private static string ProcessOutput(string program, string argument)
    {
        using Process process = Process.Start(new ProcessStartInfo(program, [argument]) { UseShellExecute = false, RedirectStandardOutput = true })!;
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return output;
    }

    [GeneratedRegex(@"^(?<letter>-[A-Za-z])(?=[, ]),? *(?<long>--[a-z_-]+)?", RegexOptions.Multiline)]
    private static partial Regex MemcachedOption();

    [GeneratedRegex(@"^   - (?<name>[a-z_0-9]+):", RegexOptions.Multiline)]
    private static partial Regex MemcachedSuboption();

    private string WriteConfig(string json)
    {
        string file = PathOf("serve.json");
        File.WriteAllText(file, json);
        return file;
    }
}
