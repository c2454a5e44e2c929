// SPDX-License-Identifier: GPL-2.0-or-later
/* The names in paths of control groups, in the forms that their makers document:
 * systemd (CGROUP_DELEGATION, systemd-nspawn(1)), Docker, containerd, CRI-O,
 * podman, LXC, and the kubelet with both of its drivers. */
#include "test.h"

#include <stdlib.h>

#include "base/cgroup_path.h"

#define ID "3f1f9d6a0b7c4e2f8a1d5c6b7e8f90123456789abcdef0123456789abcdef012"
#define UID "0a1b2c3d-4e5f-6789-abcd-ef0123456789"
#define UID_ "0a1b2c3d_4e5f_6789_abcd_ef0123456789"

static const struct {
	const char *path, *container, *pod, *service;
} paths[] = {
	{ "", "", "", "" },
	{ "/", "", "", "" },
	{ "/init.scope", "", "", "" },
	/* systemd */
	{ "/system.slice/nginx.service", "", "", "nginx" },
	{ "/system.slice/nginx.service/workers", "", "", "nginx" },
	{ "/system.slice/system-getty.slice/getty@tty1.service", "", "",
	  "getty@tty1" },
	{ "/system.slice/a\\x2db.service", "", "", "a-b" },
	{ "/system.slice/a\\x0ab\\xzz\\x2.service", "", "",
	  "a\\x0ab\\xzz\\x2" },
	{ "/user.slice/user-1000.slice/session-3.scope", "", "", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/init.scope", "", "",
	  "user@1000" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/"
	  "app-org.gnome.Terminal.slice/vte-spawn-1.scope", "", "", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/"
	  "syncthing.service", "", "", "syncthing" },
	/* systemd-nspawn */
	{ "/machine.slice/machine-web.scope/payload", "web", "", "" },
	{ "/machine.slice/machine-web\\x2d1.scope/payload/system.slice/"
	  "nginx.service", "web-1", "", "nginx" },
	{ "/machine.slice/systemd-nspawn@web.service/payload/init.scope", "web",
	  "", "" },
	{ "/machine.slice/systemd-nspawn@web.service/payload/system.slice/"
	  "sshd.service", "web", "", "sshd" },
	/* Docker with the drivers cgroupfs and systemd, and rootless */
	{ "/docker/" ID, ID, "", "" },
	{ "/system.slice/docker-" ID ".scope", ID, "", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID
	  ".scope", ID, "", "" },
	{ "/system.slice/docker-" ID ".scope/system.slice/cron.service", ID, "",
	  "cron" },
	{ "/docker/buildkit", "", "", "" },
	{ "/system.slice/docker-" ID "0.scope", "", "", "" },
	{ "/system.slice/docker.service", "", "", "docker" },
	{ "/system.slice/nerdctl-" ID ".scope", ID, "", "" },
	/* podman */
	{ "/machine.slice/libpod-" ID ".scope/container", ID, "", "" },
	{ "/machine.slice/libpod-conmon-" ID ".scope", "", "", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
	  ".scope/container", ID, "", "" },
	{ "/libpod_parent/libpod-" ID, ID, "", "" },
	{ "/machine.slice/machine-libpod_pod_" ID ".slice/libpod-" ID
	  ".scope/container", ID, ID, "" },
	{ "/system.slice/web.service/libpod-payload-" ID, ID, "", "web" },
	/* the kubelet with cgroupfs */
	{ "/kubepods/burstable/pod" UID "/" ID, ID, UID, "" },
	{ "/kubepods/pod" UID "/" ID, ID, UID, "" },
	{ "/kubepods/besteffort/pod" UID "/crio-" ID, ID, UID, "" },
	{ "/kubepods/besteffort/pod" UID, "", UID, "" },
	{ "/kubepods/besteffort", "", "", "" },
	/* … with systemd */
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	  ".slice/cri-containerd-" ID ".scope", ID, UID, "" },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope", ID, UID,
	  "" },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" ID ".scope",
	  "", UID, "" },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/docker-" ID ".scope", ID,
	  UID, "" },
	{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort."
	  "slice/kubelet-kubepods-besteffort-pod" UID_ ".slice/cri-containerd-" ID
	  ".scope", ID, UID, "" },
	{ "/system.slice/containerd.service/kubepods-burstable-pod" UID_
	  ".slice:cri-containerd:" ID, ID, UID, "" },
	/* Kubernetes in Docker */
	{ "/system.slice/docker-" ID ".scope/kubelet.slice/kubelet-kubepods.slice/"
	  "kubelet-kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope", ID,
	  UID, "" },
	/* LXC */
	{ "/lxc.payload.web/system.slice/cron.service", "web", "", "cron" },
	{ "/lxc/web/init.scope", "web", "", "" },
	{ "/lxc.monitor.web", "", "", "" },
	/* seen from a cgroup namespace */
	{ "/../../system.slice/nginx.service", "", "", "nginx" },
	/* nothing else is taken for one of them */
	{ "/pod" UID "/" ID, "", "", "" },
	{ "/" ID, "", "", "" },
	{ "/.service/.scope/.slice", "", "", "" },
	{ "//:::///", "", "", "" },
	{ "/system.slice/docker-.scope", "", "", "" },
	{ "/kubepods.slice/kubepods-pod.slice/x", "", "", "" },
};

static void test_paths(void **state)
{
	struct cgroup_names n;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		cgroup_names(paths[i].path, &n);
		if (strcmp(n.container, paths[i].container) ||
		    strcmp(n.pod, paths[i].pod) ||
		    strcmp(n.service, paths[i].service))
			fail_msg("%s: '%s' '%s' '%s'", paths[i].path,
				 n.container, n.pod, n.service);
	}
	assert_true(cgroup_is_id(ID));
	assert_false(cgroup_is_id("web"));
}

/* Any bytes and any length. */
static void test_hostile_paths(void **state)
{
	struct buf b = { 0 };
	struct cgroup_names n;

	(void)state;
	for (int i = 0; i < 100000; i++)
		buf_str(&b, "/machine-a.scope/x");
	cgroup_names(buf_cstr(&b), &n);
	assert_string_equal(n.container, "a");
	buf_reset(&b);
	buf_str(&b, "/system.slice/");
	for (int i = 0; i < 1000; i++)
		buf_u8(&b, 'a');
	buf_str(&b, ".service");
	cgroup_names(buf_cstr(&b), &n);
	assert_string_equal(n.service, "");	/* no file has such a name */
	cgroup_names("/\x01\xff\n\x1b[31m.service", &n);
	assert_string_equal(n.service, "\x01\xff\n\x1b[31m");
	buf_fini(&b);
}

static const struct {
	const char *text, *path;
} files[] = {
	{ "0::/system.slice/nginx.service\n", "/system.slice/nginx.service" },
	{ "0::/\n", "/" },
	{ "0::/a/b (deleted)\n", "/a/b" },
	{ "0::/a:b/c\n", "/a:b/c" },
	/* both versions: the unified path wins unless it is the root */
	{ "2:cpu,cpuacct:/docker/x\n1:name=systemd:/system.slice/d.service\n"
	  "0::/\n", "/docker/x" },
	{ "2:cpu:/a/b/c\n1:name=systemd:/a\n0::/u\n", "/u" },
	{ "4:memory:/\n3:cpu:/docker/x\n", "/docker/x" },
	/* not that file */
	{ "", "" }, { "\n\n", "" }, { "0:\n", "" }, { "0::\n", "" },
	{ "0::relative\n", "" }, { "::", "" }, { "0::/end", "/end" },
};

static void test_proc_text(void **state)
{
	struct buf b = { 0 }, big = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		buf_reset(&b);
		cgroup_path_of(files[i].text, strlen(files[i].text), &b);
		assert_string_equal(buf_cstr(&b), files[i].path);
	}
	buf_str(&big, "0::");
	for (int i = 0; i < 100000; i++)
		buf_str(&big, "/x");
	buf_reset(&b);
	cgroup_path_of(buf_cstr(&big), big.n, &b);
	assert_int_equal(b.n, CGROUP_PATH_MAX);
	buf_fini(&b);
	buf_fini(&big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_hostile_paths),
		cmocka_unit_test(test_proc_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
